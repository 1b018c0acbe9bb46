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
