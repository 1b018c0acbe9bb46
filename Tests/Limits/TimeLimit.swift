public import Testing

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that takes longer: it hangs.
    ///
    /// All tests run side by side, and their clocks with them. The thread sanitizer slows everything down, so that there
    /// a limit is twenty times as long.
    public static func limit(minutes: Int) -> Self {
        .timeLimit(.minutes(isThreadSanitized ? 20 * minutes : minutes))
    }
}

private let isThreadSanitized = dlsym(dlopen(nil, RTLD_NOW), "__tsan_init") != nil
