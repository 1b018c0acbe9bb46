public import Testing

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that takes longer, because it hangs; `minutes` are those of a machine that does nothing else.
    ///
    /// A dozen tests run at a time, and so do their time limits. On two cores with other work a test may have a fifth
    /// of one, so the limit is five times as long; under the thread sanitizer, which slows everything down, twenty
    /// times.
    public static func limit(minutes: Int) -> Self {
        .timeLimit(.minutes((isThreadSanitized ? 20 : 5) * minutes))
    }
}

private let isThreadSanitized = dlsym(dlopen(nil, RTLD_NOW), "__tsan_init") != nil
