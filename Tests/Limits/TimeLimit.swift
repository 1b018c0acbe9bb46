public import Testing

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that takes longer, because it hangs.
    ///
    /// All tests run concurrently, and so do their time limits. The thread sanitizer slows everything down, so limits
    /// are twenty times as long there.
    public static func limit(minutes: Int) -> Self {
        .timeLimit(.minutes(isThreadSanitized ? 20 * minutes : minutes))
    }
}

private let isThreadSanitized = dlsym(dlopen(nil, RTLD_NOW), "__tsan_init") != nil
