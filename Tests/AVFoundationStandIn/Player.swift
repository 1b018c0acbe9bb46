public import Dispatch
public import Foundation
import Primitives

// As in AVFoundation, the classes are isolated to the main actor, and most of a player's own methods are nonisolated.

/// An asset to be played by a player.
@MainActor public class AVPlayerItem: NSObject {
    private nonisolated let storedAsset: StoredAsset
    /// The player that owns the item.
    fileprivate nonisolated let owner = Mutex(Owner())

    private nonisolated init(_ asset: StoredAsset) { storedAsset = asset }

    /// Creates an item from a URL.
    public nonisolated convenience init(url: URL) { self.init(StoredAsset(AVURLAsset(url: url))) }

    /// Creates an item from an asset that stays on the main actor.
    public convenience init(asset: AVAsset) { self.init(StoredAsset(asset)) }

    /// Creates an item from an asset that may be shared.
    public nonisolated convenience init(asset: any AVAsset & Sendable) { self.init(StoredAsset(asset)) }

    /// The asset.
    public var asset: AVAsset { storedAsset.asset }
    /// Why the item cannot be played.
    public internal(set) var error: (any Error)?
    /// Maximum bit rate of the variant that plays; 0 for any.
    public var preferredPeakBitRate = 0.0
    private nonisolated let state = Mutex(ItemState())

    /// The duration; unknown here unless a test sets it.
    public var duration: CMTime { state.withLock { $0.duration } }

    /// Simulates that the duration becomes known.
    package nonisolated func setDuration(_ duration: CMTime) { state.withLock { $0.duration = duration } }

    /// Whether the item can be played; a test sets it.
    public var status: Status { state.withLock { $0.status } }

    /// Whether an item can be played.
    public enum Status: Int, Sendable {
        /// That is not known yet.
        case unknown
        /// It can.
        case readyToPlay
        /// It cannot.
        case failed
    }

    /// Simulates that the item becomes ready or fails.
    package nonisolated func setStatus(_ status: Status) {
        let handlers = state.withLock { state in
            guard !state.isFrozen else { return [@Sendable (AVPlayerItem) -> Void]() }
            state.status = status
            return state.handlers(of: Status.self)
        }
        for handler in handlers { handler(self) }
    }

    /// Whether it is likely to play on without a stall; a test sets it.
    public var isPlaybackLikelyToKeepUp: Bool { state.withLock { $0.isLikelyToKeepUp } }

    /// Simulates that the buffer runs empty and that the player stops, or that the buffer is filled again.
    package nonisolated func setLikelyToKeepUp(_ isLikely: Bool) {
        let handlers = state.withLock { state in
            state.isLikelyToKeepUp = isLikely
            return state.handlers(of: Bool.self)
        }
        if !isLikely { NotificationCenter.default.post(name: .AVPlayerItemPlaybackStalled, object: self) }
        for handler in handlers { handler(self) }
    }

    /// Whether it can be played.
    fileprivate nonisolated var isReady: Bool { state.withLock { $0.status == .readyToPlay } }

    /// Keeps its status from now on.
    fileprivate nonisolated func freeze() { state.withLock { $0.isFrozen = true } }

    /// Calls `changeHandler` after each change of the property; the stand-in supports the status and
    /// whether it is likely to keep up, which it tells apart by the types of their values.
    public nonisolated func observe<Value>(
        _ keyPath: KeyPath<AVPlayerItem, Value>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping @Sendable (AVPlayerItem, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        // Immutable, and always the same property here.
        nonisolated(unsafe) let keyPath = keyPath
        let id = state.withLock { state in
            state.nextHandler += 1
            state.handlers[state.nextHandler] = ChangeHandler(type: ObjectIdentifier(Value.self)) { item in
                changeHandler(item, NSKeyValueObservedChange(newValue: item[keyPath: keyPath]))
            }
            return state.nextHandler
        }
        return NSKeyValueObservation { [weak self] in _ = self?.state.withLock { $0.handlers.removeValue(forKey: id) } }
    }
}

/// What changes of an item.
private struct ItemState: Sendable {
    var status = AVPlayerItem.Status.unknown
    var duration = CMTime.indefinite
    var isLikelyToKeepUp = true
    var isFrozen = false
    var handlers: [Int: ChangeHandler<AVPlayerItem>] = [:]
    var nextHandler = 0

    /// The observers of the property that has values of this type.
    func handlers(of type: Any.Type) -> [@Sendable (AVPlayerItem) -> Void] {
        handlers.values.filter { $0.type == ObjectIdentifier(type) }.map { $0.call }
    }
}

/// An observer of a property of `Object`, which the type of its values identifies.
private struct ChangeHandler<Object>: Sendable {
    let type: ObjectIdentifier
    let call: @Sendable (Object) -> Void
}

extension NSNotification.Name {
    /// An item has stopped because its buffer is empty.
    public static let AVPlayerItemPlaybackStalled = NSNotification.Name("AVPlayerItemPlaybackStalledNotification")
}

/// The asset of an item: set once, and accessed on the main actor only.
private struct StoredAsset: @unchecked Sendable {
    let asset: AVAsset
    init(_ asset: AVAsset) { self.asset = asset }
}

/// The player that owns an item.
private struct Owner: Sendable {
    weak var player: AVPlayer?
}

/// Players that are as reserved as those of some systems (``AVPlayer/isLate``).
package enum LatePlayers {
    /// Whether players that the current task creates are.
    @TaskLocal package static var areUsed = false
}

/// Plays one item.
@MainActor public class AVPlayer: NSObject, AssociationHolder {
    fileprivate struct State: Sendable {
        var item: AVPlayerItem?
        /// The queue of a queue player, the current item first.
        var queue: [AVPlayerItem] = []
        var handlers: [Int: ChangeHandler<AVPlayer>] = [:]
        var nextHandler = 0
        var observers: [ObjectIdentifier: TimeObserver] = [:]
        var isExternalPlaybackActive = false
        var time = CMTime(value: 0, timescale: 1)
        var rate: Float = 0
        var isLate = LatePlayers.areUsed

        /// The observers of the property that has values of this type.
        func handlers(of type: Any.Type) -> [@Sendable (AVPlayer) -> Void] {
            handlers.values.filter { $0.type == ObjectIdentifier(type) }.map { $0.call }
        }
    }

    nonisolated let associations = Associations()
    fileprivate nonisolated let state = Mutex(State())
    /// Whether playback waits until it is likely not to stall.
    public var automaticallyWaitsToMinimizeStalling = true
    /// Whether video may be sent to an AirPlay receiver as a URL; not on visionOS.
    public var allowsExternalPlayback = true

    /// Whether the player sends its video to a receiver now; not on visionOS.
    public var isExternalPlaybackActive: Bool { state.withLock { $0.isExternalPlaybackActive } }
    /// How fast it plays; 0 while it is paused.
    public var rate: Float {
        get { state.withLock { $0.rate } }
        set { state.withLock { $0.rate = newValue } }
    }

    /// Whether the player is as reserved as some systems' players: it drops seeks of items that are not ready, and an
    /// item that has left it keeps its status.
    package nonisolated var isLate: Bool { state.withLock { $0.isLate } }

    /// Whether a seek is dropped.
    private nonisolated var dropsSeeks: Bool { isLate && currentItem?.isReady == false }

    /// Simulates that the user chooses a receiver, or this device.
    package nonisolated func setExternalPlaybackActive(_ isActive: Bool) {
        let handlers = state.withLock { state in
            state.isExternalPlaybackActive = isActive
            return state.handlers(of: Bool.self)
        }
        for handler in handlers { handler(self) }
    }

    /// Creates a player without an item.
    public nonisolated override init() { super.init() }

    /// Creates a player.
    public nonisolated convenience init(playerItem: AVPlayerItem?) {
        self.init()
        if let playerItem, claim(playerItem) { state.withLock { $0.item = playerItem } }
    }

    deinit {
        if state.withLock({ !$0.observers.isEmpty }) {
            Exceptions.raise("A player goes while its time is observed, which is undefined.")
        }
    }

    /// The current item.
    public nonisolated var currentItem: AVPlayerItem? { state.withLock { $0.item } }
    /// Starts playback.
    public nonisolated func play() { state.withLock { $0.rate = 1 } }
    /// Pauses playback.
    public nonisolated func pause() { state.withLock { $0.rate = 0 } }
    /// The current time, which only seeks change here.
    public nonisolated func currentTime() -> CMTime { state.withLock { $0.time } }
    /// Seeks near another time, such as to a key frame; the stand-in to the last whole second.
    public nonisolated func seek(to time: CMTime) {
        guard time.isNumeric else { return Exceptions.raise("Seeking is not possible to \(time).") }
        if dropsSeeks { return }
        let seconds = CMTime(value: time.value / Int64(time.timescale), timescale: 1)
        state.withLock { $0.time = seconds }
    }

    /// Seeks to another time; the stand-in exactly, whatever is tolerated.
    public nonisolated func seek(to time: CMTime, toleranceBefore: CMTime, toleranceAfter: CMTime) {
        guard time.isNumeric else { return Exceptions.raise("Seeking is not possible to \(time).") }
        if dropsSeeks { return }
        state.withLock { $0.time = time }
    }

    /// Replaces the current item.
    public nonisolated func replaceCurrentItem(with item: AVPlayerItem?) {
        if let item { _ = claim(item) }
        if let old = state.withLock({ $0.item }) { release(old) }
        setCurrentItem(item)
    }

    /// Calls `block` as time passes, until ``removeTimeObserver(_:)`` is called; the stand-in's time does not pass.
    public nonisolated func addPeriodicTimeObserver(
        forInterval interval: CMTime, queue: DispatchQueue?, using block: @escaping @Sendable (CMTime) -> Void
    ) -> Any {
        let observer = TimeObserver(queue: queue ?? .main, block: block)
        state.withLock { $0.observers[ObjectIdentifier(observer)] = observer }
        return observer
    }

    /// Removes an observer added by ``addPeriodicTimeObserver(forInterval:queue:using:)``.
    public nonisolated func removeTimeObserver(_ observer: Any) {
        let removed = state.withLock { $0.observers.removeValue(forKey: ObjectIdentifier(observer as AnyObject)) }
        if removed == nil { Exceptions.raise("An observer cannot be removed that this player has not made.") }
    }

    /// Simulates the passing of time: calls all observers and waits for them.
    package nonisolated func passTime() async {
        for observer in state.withLock({ Array($0.observers.values) }) {
            await withCheckedContinuation { continuation in
                observer.queue.async {
                    observer.block(CMTime(value: 0, timescale: 1))
                    continuation.resume()
                }
            }
        }
    }

    /// Calls `handler` after each change of the property that has values of `type`.
    fileprivate nonisolated func observe(
        _ type: Any.Type, isInitial: Bool, _ handler: @escaping @Sendable (AVPlayer) -> Void
    ) -> NSKeyValueObservation {
        let new = ChangeHandler(type: ObjectIdentifier(type), call: handler)
        let id = state.withLock { state in
            state.nextHandler += 1
            state.handlers[state.nextHandler] = new
            return state.nextHandler
        }
        if isInitial { handler(self) }
        return NSKeyValueObservation { [weak self] in _ = self?.state.withLock { $0.handlers.removeValue(forKey: id) } }
    }

    /// Claims an item that no other player owns; returns false if one does, which raises an exception in AVFoundation.
    fileprivate nonisolated func claim(_ item: AVPlayerItem) -> Bool {
        let isFree = item.owner.withLock { owner in
            guard owner.player == nil || owner.player === self else { return false }
            owner.player = self
            return true
        }
        if !isFree { Exceptions.raise("An item cannot be associated with two players.") }
        return isFree
    }

    /// Gives up an item.
    fileprivate nonisolated func release(_ item: AVPlayerItem) {
        item.owner.withLock { $0.player = nil }
        if isLate { item.freeze() }
    }

    fileprivate nonisolated func setCurrentItem(_ item: AVPlayerItem?) {
        let handlers = state.withLock { state -> [@Sendable (AVPlayer) -> Void] in
            guard state.item !== item else { return [] }
            state.item = item
            state.time = CMTime(value: 0, timescale: 1)
            return state.handlers(of: AVPlayerItem?.self)
        }
        for handler in handlers { handler(self) }
    }
}

/// Objects whose properties can be observed; all of `NSObject` on Apple's systems.
public protocol KeyValueObserving: AnyObject {}

extension AVPlayer: KeyValueObserving {}

extension KeyValueObserving where Self: AVPlayer {
    /// Calls `changeHandler` after each change of the property, on the thread that makes it; the stand-in supports the
    /// current item and external playback, which it tells apart by the types of their values.
    public nonisolated func observe<Value>(
        _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        // Immutable, and always the same property here.
        nonisolated(unsafe) let keyPath = keyPath
        return observe(Value.self, isInitial: options.contains(.initial)) { player in
            guard let player = player as? Self else { return }
            changeHandler(player, NSKeyValueObservedChange(newValue: player[keyPath: keyPath]))
        }
    }
}

/// An observer of a player's time.
private final class TimeObserver: Sendable {
    let queue: DispatchQueue
    let block: @Sendable (CMTime) -> Void

    init(queue: DispatchQueue, block: @escaping @Sendable (CMTime) -> Void) {
        self.queue = queue
        self.block = block
    }
}

/// A player that plays items one after the other.
@MainActor public class AVQueuePlayer: AVPlayer {
    /// Creates a player with a queue.
    public nonisolated convenience init(items: [AVPlayerItem]) {
        self.init()
        for item in items { insert(item, after: nil) }
    }

    /// The queue, the current item first.
    public nonisolated func items() -> [AVPlayerItem] { state.withLock { $0.queue } }

    /// Whether the item may be inserted.
    public nonisolated func canInsert(_ item: AVPlayerItem, after: AVPlayerItem?) -> Bool {
        item.owner.withLock { $0.player == nil }
    }

    /// Inserts an item, at the end if `after` is `nil`.
    public nonisolated func insert(_ item: AVPlayerItem, after: AVPlayerItem?) {
        guard canInsert(item, after: after), claim(item) else {
            return Exceptions.raise("The item is in a queue already.")
        }
        state.withLock { state in
            let index = after.flatMap { previous in state.queue.firstIndex { $0 === previous } }.map { $0 + 1 }
            state.queue.insert(item, at: index ?? state.queue.endIndex)
        }
        settle()
    }

    /// Advances to the next item.
    public nonisolated func advanceToNextItem() {
        let left = state.withLock { $0.queue.isEmpty ? nil : $0.queue.removeFirst() }
        if let left { release(left) }
        settle()
    }

    /// Removes an item.
    public nonisolated func remove(_ item: AVPlayerItem) {
        state.withLock { state in state.queue.removeAll { $0 === item } }
        release(item)
        settle()
    }

    /// Removes all items.
    public nonisolated func removeAllItems() {
        let left = state.withLock { state in
            defer { state.queue = [] }
            return state.queue
        }
        for item in left { release(item) }
        settle()
    }

    private nonisolated func settle() { setCurrentItem(state.withLock { $0.queue.first }) }
}
