/// The holds on responses of one path, and the responses that wait.
struct Gate: Sendable {
    var holdsHeads = false
    /// Offsets of the representation before which bodies stop.
    var offsets: Set<Int64> = []
    /// Connections whose response still has to stall.
    var stalls: Set<Int> = []
    /// Waiting responses, by connection: a connection sends one response at a time.
    var parked: [Int: @Sendable () -> Void] = [:]

    var isIdle: Bool { !holdsHeads && offsets.isEmpty && stalls.isEmpty && parked.isEmpty }
}

extension Ledger {
    /// How far a body may go.
    enum Clearance: Sendable, Equatable {
        /// Up to the next hold, if there is one.
        case open(upTo: Int64?)
        /// Not at all; the wake closure has been kept.
        case blocked
    }

    typealias Wake = @Sendable () -> Void

    mutating func hold(_ path: String, at offset: Int64) {
        gates[path, default: Gate()].offsets.insert(offset)
    }

    mutating func holdHeads(_ path: String) {
        gates[path, default: Gate()].holdsHeads = true
    }

    /// Opens the gate of a path; returns the closures that wake its waiters.
    mutating func release(_ path: String) -> [Wake] {
        guard let gate = gates.removeValue(forKey: path) else { return [] }
        return Array(gate.parked.values)
    }

    /// Removes one hold; returns the closures that wake its waiters.
    ///
    /// Those that wait for something else find the gate closed again.
    mutating func release(_ path: String, at offset: Int64) -> [Wake] {
        guard var gate = gates[path] else { return [] }
        gate.offsets.remove(offset)
        let woken = Array(gate.parked.values)
        gate.parked = [:]
        gates[path] = gate.isIdle ? nil : gate
        return woken
    }

    mutating func registerStall(_ path: String, connection: Int) {
        gates[path, default: Gate()].stalls.insert(connection)
    }

    /// Removes a connection's waits; called at the end of each response.
    mutating func leave(_ path: String, connection: Int) {
        guard var gate = gates[path] else { return }
        gate.stalls.remove(connection)
        gate.parked[connection] = nil
        gates[path] = gate.isIdle ? nil : gate
    }

    mutating func mayPassHead(_ path: String, connection: Int, wake: @escaping Wake) -> Bool {
        guard let gate = gates[path], gate.holdsHeads else { return true }
        gates[path]?.parked[connection] = wake
        return false
    }

    mutating func mayPassStall(_ path: String, connection: Int, wake: @escaping Wake) -> Bool {
        guard let gate = gates[path], gate.stalls.contains(connection) else { return true }
        gates[path]?.parked[connection] = wake
        return false
    }

    mutating func clearance(_ path: String, from position: Int64, connection: Int, wake: @escaping Wake) -> Clearance {
        let isHeld = gates[path]?.offsets.contains(position) == true
        guard !isHeld, allowance.map({ $0 > 0 }) ?? true else {
            gates[path, default: Gate()].parked[connection] = wake
            return .blocked
        }
        let next = gates[path]?.offsets.filter { $0 > position }.min()
        return .open(upTo: [next, allowance.map { position + $0 }].compactMap(\.self).min())
    }

    /// Sets how many bytes all bodies may still take; returns the closures that wake all waiters.
    mutating func allow(_ count: Int64?) -> [Wake] {
        allowance = count
        var woken: [Wake] = []
        for (path, gate) in gates {
            woken += gate.parked.values
            gates[path]?.parked = [:]
            if gates[path]?.isIdle == true { gates[path] = nil }
        }
        return woken
    }

    /// Counts bytes that a body takes of what is allowed.
    mutating func spend(_ count: Int64) {
        allowance = allowance.map { $0 - count }
    }
}

extension TestOrigin {
    /// Stops bodies of a path exactly before `offset` of the representation, until released.
    ///
    /// A body that begins beyond the offset, or is already beyond it, continues. A path can have several such offsets.
    public func hold(_ path: String, at offset: Int64) {
        state.arrange { $0.hold(path, at: offset) }
    }

    /// Stops all bodies when they have sent `count` bytes more, until more are allowed; `nil` for any number.
    ///
    /// Slices that bodies on other threads cut at the same moment come on top, of at most 64 KiB each.
    public func allow(_ count: Int64?) {
        let woken = state.arrange { $0.allow(count) }
        for wake in woken { wake() }
    }

    /// Keeps back the heads of responses of a path until released.
    public func holdHeads(_ path: String) {
        state.arrange { $0.holdHeads(path) }
    }

    /// Releases everything at a path: heads, all offsets, and the stalls of responses that have begun.
    public func release(_ path: String) {
        let woken = state.arrange { $0.release(path) }
        for wake in woken { wake() }
    }

    /// Releases one offset only.
    public func release(_ path: String, at offset: Int64) {
        let woken = state.arrange { $0.release(path, at: offset) }
        for wake in woken { wake() }
    }
}
