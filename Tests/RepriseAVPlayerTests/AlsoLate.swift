#if canImport(AVFoundation)
    import AVFoundation
    import Testing

    /// Runs each test twice, the second time with the players of `LatePlayers`; on Apple's platforms, once.
    struct AlsoLate: SuiteTrait, TestTrait, TestScoping {
        var isRecursive: Bool { true }

        func provideScope(
            for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
        ) async throws {
            #if REPRISE_AVFOUNDATION_STAND_IN
                for isLate in [false, true] {
                    try await LatePlayers.$areUsed.withValue(isLate) { try await function() }
                }
            #else
                try await function()
            #endif
        }
    }

    extension Trait where Self == AlsoLate {
        static var alsoLate: Self { AlsoLate() }
    }
#endif
