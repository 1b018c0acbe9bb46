public import Foundation
import Locks

/// An asset on its way through a player.
@MainActor public class AVPlayerItem: NSObject {
    private nonisolated let storedAsset: AVAsset
    weak var owner: AVPlayer?

    /// Creates an item.
    public nonisolated convenience init(url: URL) { self.init(asset: AVURLAsset(url: url)) }

    /// Creates an item.
    public nonisolated init(asset: any AVAsset & Sendable) { storedAsset = asset }

    /// The asset.
    public var asset: AVAsset { storedAsset }
}

/// Plays one item.
@MainActor public class AVPlayer: NSObject, AssociationHolder {
    nonisolated let associations = Associations()
    /// Whether playback waits until it is likely not to stall.
    public var automaticallyWaitsToMinimizeStalling = true
    /// Whether video may go to an AirPlay receiver as a URL.
    public var allowsExternalPlayback = true
    /// The item.
    public internal(set) var currentItem: AVPlayerItem? {
        didSet { for handler in handlers.values { handler(self) } }
    }
    private var handlers: [Int: (AVPlayer) -> Void] = [:]
    private var nextHandler = 0

    /// Creates a player.
    public init(playerItem: AVPlayerItem?) {
        currentItem = playerItem
        super.init()
        playerItem?.owner = self
    }

    /// Begins to play.
    public func play() {}
    /// Stops.
    public func pause() {}

    /// Plays another item.
    public func replaceCurrentItem(with item: AVPlayerItem?) {
        if let owner = item?.owner, owner !== self {
            Exceptions.raise("An item cannot be associated with two players.")
        }
        currentItem?.owner = nil
        item?.owner = self
        currentItem = item
    }

    /// Calls `changeHandler` after each change of the property; the stand-in knows the current item only.
    public func observe<Value>(
        _ keyPath: KeyPath<AVQueuePlayer, Value>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping @Sendable (AVQueuePlayer, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        let id = nextHandler
        nextHandler += 1
        handlers[id] = { player in
            guard let queue = player as? AVQueuePlayer else { return }
            changeHandler(queue, NSKeyValueObservedChange(newValue: queue[keyPath: keyPath]))
        }
        if options.contains(.initial) { handlers[id]?(self) }
        return NSKeyValueObservation { [weak self] in
            Task { @MainActor in self?.handlers[id] = nil }
        }
    }
}

/// Plays items one after the other.
@MainActor public class AVQueuePlayer: AVPlayer {
    private var queue: [AVPlayerItem] = []

    /// Creates a player with a queue.
    public init(items: [AVPlayerItem]) {
        super.init(playerItem: nil)
        for item in items { insert(item, after: nil) }
    }

    /// The queue, the current item first.
    public func items() -> [AVPlayerItem] { queue }

    /// Whether the item may be inserted.
    public func canInsert(_ item: AVPlayerItem, after: AVPlayerItem?) -> Bool { item.owner == nil }

    /// Inserts an item, at the end if `after` is `nil`.
    public func insert(_ item: AVPlayerItem, after: AVPlayerItem?) {
        guard canInsert(item, after: after) else { return Exceptions.raise("The item is in a queue already.") }
        item.owner = self
        let index = after.flatMap { previous in queue.firstIndex { $0 === previous } }.map { $0 + 1 } ?? queue.endIndex
        queue.insert(item, at: index)
        settle()
    }

    /// Goes to the next item.
    public func advanceToNextItem() {
        guard !queue.isEmpty else { return }
        queue.removeFirst().owner = nil
        settle()
    }

    /// Takes an item out.
    public func remove(_ item: AVPlayerItem) {
        queue.removeAll { $0 === item }
        item.owner = nil
        settle()
    }

    /// Takes all items out.
    public func removeAllItems() {
        for item in queue { item.owner = nil }
        queue = []
        settle()
    }

    private func settle() {
        if currentItem !== queue.first { currentItem = queue.first }
    }
}
