import Primitives

// The few parts of the Objective-C runtime and of key-value observing that the adapter uses; on Apple's systems
// Foundation provides them.

/// How an associated object is retained.
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

/// The objects associated with one object.
///
/// The table is guarded by its mutex; the caller guarantees that the associated object may be retained and released on
/// any thread.
final class Associations: @unchecked Sendable {
    private let lock = Mutex(())
    private var objects: [UnsafeRawPointer: AnyObject] = [:]

    subscript(key: UnsafeRawPointer) -> AnyObject? { lock.withLock { _ in Carrier(objects[key]) }.object }

    /// Replaces an object; returns the old one, so that it is released outside the lock.
    func replace(_ key: UnsafeRawPointer, with object: AnyObject?) -> AnyObject? {
        let new = Carrier(object)
        return lock.withLock { _ in
            let old = Carrier(objects[key])
            objects[key] = new.object
            return old
        }.object
    }

    /// Carries a reference through the lock.
    private struct Carrier: @unchecked Sendable {
        let object: AnyObject?
        init(_ object: AnyObject?) { self.object = object }
    }
}

/// Associates `value` with `object` under `key`, for the lifetime of `object`.
public func objc_setAssociatedObject(
    _ object: Any, _ key: UnsafeRawPointer, _ value: Any?, _ policy: objc_AssociationPolicy
) {
    guard let holder = object as? any AssociationHolder else {
        return Exceptions.raise("The stand-in keeps no associated objects for \(type(of: object)).")
    }
    _ = holder.associations.replace(key, with: value.map { $0 as AnyObject })
}

/// The value associated with `object` under `key`.
public func objc_getAssociatedObject(_ object: Any, _ key: UnsafeRawPointer) -> Any? {
    (object as? any AssociationHolder)?.associations[key]
}

/// The information passed to a change handler.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt
    /// Creates options from their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The new value.
    public static let new = Self(rawValue: 1)
    /// Call immediately with the current value.
    public static let initial = Self(rawValue: 4)
}

/// A change of an observed property.
public struct NSKeyValueObservedChange<Value> {
    /// The new value.
    public let newValue: Value?
}

/// An observation that ends when it is released.
public final class NSKeyValueObservation: Sendable {
    private let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    deinit { end() }
    /// Ends the observation.
    public func invalidate() { end() }
}
