#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Small file operations whose failure changes nothing: what cannot be removed now is removed as an orphan later.
enum Files {
    static func remove(_ path: String) { _ = unlink(path) }
}
