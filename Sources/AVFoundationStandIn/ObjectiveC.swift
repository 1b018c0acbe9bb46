import Locks

// The few parts of the Objective-C runtime and of key-value observing that the adapter uses; on Apple's systems they come
// with Foundation.

/// How an associated object is held.
public enum objc_AssociationPolicy: Sendable {
    /// Strongly, atomically.
    case OBJC_ASSOCIATION_RETAIN
    /// Strongly.
    case OBJC_ASSOCIATION_RETAIN_NONATOMIC
}

/// Objects that can carry associated objects; any `NSObject` on Apple's systems.
protocol AssociationHolder: AnyObject {
    var associations: Associations { get }
}

/// What one object holds by association.
///
/// Whoever associates an object vouches that it may be held, and let go, on any thread; the table has its mutex.
final class Associations: @unchecked Sendable {
    private let lock = Mutex(())
    private var objects: [UnsafeRawPointer: AnyObject] = [:]

    subscript(key: UnsafeRawPointer) -> AnyObject? { lock.withLock { _ in Carrier(objects[key]) }.object }

    /// Replaces what is held; the old object is returned, so that it goes after the lock is free.
    func replace(_ key: UnsafeRawPointer, with object: AnyObject?) -> AnyObject? {
        let new = Carrier(object)
        return lock.withLock { _ in
            let old = Carrier(objects[key])
            objects[key] = new.object
            return old
        }.object
    }

    /// A reference on its way through the lock.
    private struct Carrier: @unchecked Sendable {
        let object: AnyObject?
        init(_ object: AnyObject?) { self.object = object }
    }
}

/// Makes `object` hold `value` under `key` for as long as it lives.
public func objc_setAssociatedObject(
    _ object: Any, _ key: UnsafeRawPointer, _ value: Any?, _ policy: objc_AssociationPolicy
) {
    guard let holder = object as? any AssociationHolder else {
        return Exceptions.raise("The stand-in keeps no associated objects for \(type(of: object)).")
    }
    _ = holder.associations.replace(key, with: value.map { $0 as AnyObject })
}

/// What `object` holds under `key`.
public func objc_getAssociatedObject(_ object: Any, _ key: UnsafeRawPointer) -> Any? {
    (object as? any AssociationHolder)?.associations[key]
}

/// What a change handler is told.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt
    /// Creates options from their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The new value.
    public static let new = Self(rawValue: 1)
    /// Call at once with the value that is there.
    public static let initial = Self(rawValue: 4)
}

/// A change of an observed property.
public struct NSKeyValueObservedChange<Value> {
    /// The new value.
    public let newValue: Value?
}

/// Ends the observation when it goes.
public final class NSKeyValueObservation: Sendable {
    private let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    deinit { end() }
    /// Ends the observation.
    public func invalidate() { end() }
}
