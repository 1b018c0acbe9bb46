// swift-tools-version: 6.3
import PackageDescription

// Warnings are errors only in builds of our own scripts: Xcode's build engine passes the setting on to packages that
// depend on Reprise, where it conflicts with the option that silences warnings of dependencies.
let warnings: [SwiftSetting] =
    Context.environment["REPRISE_STRICT"] == "1" ? [.treatAllWarnings(as: .error)] : []
let strict: [SwiftSetting] =
    warnings + [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]

let nio = ["NIOCore", "NIOPosix", "NIOHTTP1", "NIOConcurrencyHelpers", "NIOTLS"].map { name in
    Target.Dependency.product(name: name, package: "swift-nio", condition: .when(traits: ["Streams"]))
}
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["Proxy"]))
let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Proxy"]))
let logging = Target.Dependency.product(name: "Logging", package: "swift-log", condition: .when(traits: ["Streams"]))
// The proxy inside an app, without which HLS bypasses the cache.
let appProxy = Target.Dependency.target(name: "RepriseProxy", condition: .when(traits: ["Streams"]))
let appStreams = Target.Dependency.target(name: "RepriseStreams", condition: .when(traits: ["Streams"]))
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")

// Linux has no AVFoundation, so a stand-in takes its name for this package's own tests of the adapter. Packages that
// depend on Reprise must never see it, so only this variable adds it. Such a build needs a separate scratch path: in a
// build folder that once contained the module, `canImport(AVFoundation)` stays true.
#if os(Linux)
    let hasStandIn = Context.environment["REPRISE_AVFOUNDATION_STAND_IN"] == "1"
#else
    let hasStandIn = false
#endif
let avFoundation: [Target.Dependency] = hasStandIn ? ["AVFoundation"] : []
let demo: [Target.Dependency] = hasStandIn ? ["RepriseDemo", "RepriseUI"] : []
let standInFlag: [SwiftSetting] = hasStandIn ? [.define("REPRISE_AVFOUNDATION_STAND_IN")] : []

// Apple requires libraries to declare why they call certain functions. On Linux the file is not part of the target.
#if os(Linux)
    let (privacyManifest, notBuilt): ([Resource], [String]) = ([], ["PrivacyInfo.xcprivacy"])
#else
    let (privacyManifest, notBuilt): ([Resource], [String]) = ([.copy("PrivacyInfo.xcprivacy")], [])
#endif

let package = Package(
    name: "reprise",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .visionOS(.v1)],
    products: [
        .library(name: "ByteRanges", targets: ["ByteRanges"]),
        .library(name: "HTTPSemantics", targets: ["HTTPSemantics"]),
        .library(name: "Reprise", targets: ["Reprise"]),
        .library(name: "RepriseAVPlayer", targets: ["RepriseAVPlayer"]),
        .library(name: "RepriseStreams", targets: ["RepriseStreams"]),
        .library(name: "RepriseUI", targets: ["RepriseUI"]),
        .library(name: "RepriseURLSession", targets: ["RepriseURLSession"]),
        .library(name: "RepriseHTTPClient", targets: ["RepriseHTTPClient"]),
        .library(name: "RepriseProxy", targets: ["RepriseProxy"]),
        .library(name: "RepriseTesting", targets: ["RepriseTesting"]),
        .executable(name: "reprise", targets: ["RepriseCLI"]),
    ],
    traits: [
        // `traits: []` is enough for an app that plays files only: SwiftNIO and swift-log are then neither resolved nor
        // built. `traits: ["Streams"]` adds them, for HLS, without TLS of SwiftNIO's own and the argument parser.
        .trait(name: "Streams", description: "The loopback proxy, through which apps play HLS; the test origin."),
        .trait(
            name: "Proxy", description: "The command, and the NIO origin client with TLS.",
            enabledTraits: ["Streams"]),
        .default(enabledTraits: ["Proxy"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        // The only C files: functions of the C library that Swift cannot call.
        .target(name: "CFiles"),
        .target(name: "Primitives", swiftSettings: strict),
        .target(name: "ByteRanges", swiftSettings: strict),
        .target(name: "HTTPSemantics", dependencies: ["Primitives", httpTypes], swiftSettings: strict),
        .target(name: "Playlists", dependencies: ["Primitives"], swiftSettings: strict),
        .target(name: "MediaTiming", dependencies: ["ByteRanges"], swiftSettings: strict),
        .target(
            name: "Reprise",
            dependencies: [
                "ByteRanges", "CFiles", "HTTPSemantics", "MediaTiming", "Primitives", httpTypes,
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: notBuilt,
            resources: privacyManifest,
            swiftSettings: strict),
        .target(
            name: "RepriseAVPlayer",
            dependencies: [
                "ByteRanges", "Reprise", "RepriseURLSession", "HTTPSemantics", "Primitives", httpTypes, appProxy,
                appStreams,
            ] + avFoundation,
            swiftSettings: strict),
        .target(
            name: "RepriseURLSession",
            dependencies: ["ByteRanges", "Reprise", "HTTPSemantics", "Primitives", httpTypes],
            swiftSettings: strict),
        // Its views need SwiftUI; what they show does not.
        .target(name: "RepriseUI", dependencies: ["Reprise"], swiftSettings: strict),
        // These two say what is missing where the traits are off.
        .target(name: "DefaultTraits", swiftSettings: strict),
        .target(name: "StreamsTrait", swiftSettings: strict),
        .target(
            name: "RepriseHTTPClient",
            dependencies: ["DefaultTraits", "Reprise", "HTTPSemantics", "Primitives", httpTypes, nioSSL] + nio,
            swiftSettings: strict),
        .target(
            name: "RepriseProxy",
            dependencies: [
                "ByteRanges", "CFiles", "StreamsTrait", "Reprise", "HTTPSemantics", "Primitives", "Playlists",
                httpTypes, logging,
                .product(name: "Crypto", package: "swift-crypto"),
            ] + nio,
            // The page's files become bytes of the program.
            resources: ["page.html", "page.css", "page.js", "login.html", "login.js"]
                .map { .embedInCode("Page/" + $0) },
            swiftSettings: strict),
        .target(
            name: "RepriseStreams",
            dependencies: ["ByteRanges", "HTTPSemantics", "MediaTiming", "Playlists", "Primitives", "Reprise"],
            swiftSettings: strict),
        .executableTarget(
            name: "RepriseCLI",
            dependencies: [
                "ByteRanges", "HTTPSemantics", "MediaTiming", "Primitives", "Playlists", "Reprise", "RepriseHTTPClient",
                "RepriseProxy", "RepriseStreams", httpTypes, argumentParser, logging, nioSSL,
            ] + nio,
            swiftSettings: strict),
        .target(
            name: "RepriseTesting", dependencies: ["ByteRanges", "StreamsTrait", "Primitives", httpTypes] + nio,
            swiftSettings: strict),
        .target(name: "TestLimits", path: "Tests/Limits", swiftSettings: strict),
        // Functions for starting programs in tests that are missing from Swift's overlays.
        .target(name: "CSpawn", path: "Tests/CSpawn"),
        // The clock of tests in which hours pass, on Apple's systems, too.
        .target(
            name: "TestClock", dependencies: ["Reprise", "RepriseTesting"], path: "Tests/Clock", swiftSettings: strict),
        // Code shared by several test targets.
        .target(
            name: "TestSupport",
            dependencies: [
                "CSpawn", "Primitives", "Reprise", "RepriseHTTPClient", "RepriseTesting", "HTTPSemantics", "TestClock",
                "TestLimits", httpTypes,
                .product(name: "Crypto", package: "swift-crypto"),
            ] + nio,
            path: "Tests/Support",
            swiftSettings: strict),
        .executableTarget(
            name: "StoreBenchmark",
            dependencies: [
                "HTTPSemantics", "Reprise", "RepriseStreams", "RepriseTesting", httpTypes,
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            path: "Benchmarks/Store", swiftSettings: strict),
        .executableTarget(
            name: "ParserBenchmark",
            dependencies: [
                "HTTPSemantics", "RepriseProxy",
                .product(name: "NIOEmbedded", package: "swift-nio", condition: .when(traits: ["Streams"])),
            ] + nio,
            path: "Benchmarks/Parser", swiftSettings: strict),
        .executableTarget(
            name: "FeedBenchmark",
            dependencies: ["Primitives", "Reprise", "RepriseHTTPClient", "RepriseTesting"],
            path: "Benchmarks/Feed", exclude: ["swipes.csv"], swiftSettings: strict),
        .executableTarget(
            name: "Soak",
            dependencies: ["ByteRanges", "HTTPSemantics", "Primitives", "RepriseTesting", argumentParser],
            path: "Benchmarks/Soak", swiftSettings: strict),
        // The program that the crash tests kill.
        .executableTarget(
            name: "CrashChild",
            dependencies: [
                "HTTPSemantics", "Primitives", "Reprise", "RepriseHTTPClient", "RepriseStreams", "RepriseTesting",
            ],
            path: "Tests/CrashChild", swiftSettings: strict),
        .testTarget(name: "ByteRangesTests", dependencies: ["ByteRanges", "TestLimits"], swiftSettings: strict),
        .testTarget(name: "PrimitivesTests", dependencies: ["Primitives", "TestLimits"], swiftSettings: strict),
        .testTarget(
            name: "HTTPSemanticsTests", dependencies: ["HTTPSemantics", "TestLimits", httpTypes], swiftSettings: strict),
        .testTarget(name: "PlaylistsTests", dependencies: ["Playlists", "TestLimits"], swiftSettings: strict),
        .testTarget(
            name: "MediaTimingTests",
            dependencies: ["ByteRanges", "MediaTiming", "RepriseTesting", "TestLimits", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "RepriseTests",
            dependencies: [
                "ByteRanges", "CrashChild", "HTTPSemantics", "Primitives", "Reprise", "RepriseHTTPClient",
                "RepriseTesting",
                "TestLimits", "TestSupport", httpTypes,
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            resources: [.copy("Fixtures")],
            swiftSettings: strict),
        .testTarget(
            name: "RepriseHTTPClientTests",
            dependencies: [
                "Reprise", "RepriseHTTPClient", "RepriseTesting", "TestLimits", "TestSupport", httpTypes, nioSSL,
            ] + nio,
            swiftSettings: strict),
        .testTarget(
            name: "RepriseAVPlayerTests",
            dependencies: [
                "ByteRanges", "HTTPSemantics", "Playlists", "Primitives", "Reprise", "RepriseAVPlayer",
                "RepriseHTTPClient", "RepriseProxy", "RepriseStreams", "RepriseTesting", "TestClock", "TestLimits",
                httpTypes,
            ] + avFoundation + demo,
            resources: [.copy("Fixtures")],
            swiftSettings: strict + standInFlag),
        .testTarget(
            name: "RepriseUITests",
            dependencies: ["ByteRanges", "Reprise", "RepriseHTTPClient", "RepriseTesting", "RepriseUI", "TestLimits"],
            swiftSettings: strict),
        .testTarget(
            name: "RepriseURLSessionTests",
            dependencies: [
                "HTTPSemantics", "Primitives", "Reprise", "RepriseURLSession", "RepriseTesting", "TestLimits",
                httpTypes,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RepriseProxyTests",
            dependencies: [
                "ByteRanges", "HTTPSemantics", "Primitives", "Playlists", "Reprise", "RepriseHTTPClient",
                "RepriseProxy", "RepriseStreams",
                "RepriseTesting", "TestLimits", "TestSupport", httpTypes, logging,
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOEmbedded", package: "swift-nio", condition: .when(traits: ["Streams"])),
            ] + nio,
            resources: [.copy("Fixtures")],
            swiftSettings: strict),
        .testTarget(
            name: "RepriseStreamsTests",
            dependencies: [
                "ByteRanges", "Playlists", "Primitives", "Reprise", "RepriseStreams", "RepriseTesting", "TestLimits",
                "TestSupport", httpTypes,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RepriseCLITests",
            dependencies: [
                "ByteRanges", "Primitives", "Reprise", "RepriseCLI", "RepriseProxy", "RepriseTesting", "TestLimits",
                "TestSupport",
                argumentParser, httpTypes,
            ],
            swiftSettings: strict),
        .testTarget(
            name: "RepriseTestingTests",
            dependencies: ["ByteRanges", "HTTPSemantics", "Primitives", "RepriseTesting", "TestLimits", httpTypes]
                + nio,
            swiftSettings: strict),
        .testTarget(name: "SoakTests", dependencies: ["RepriseTesting", "Soak", "TestLimits"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

// Only scripts/fuzz makes a program of it, because it has no `main` without libFuzzer; the tests see that it compiles.
let fuzzDependencies =
    [
        "ByteRanges", "HTTPSemantics", "MediaTiming", "Playlists", "Reprise", "RepriseHTTPClient", "RepriseProxy",
        httpTypes,
    ] + nio
if Context.environment["REPRISE_FUZZ"] == "1" {
    package.products.append(.executable(name: "reprise-fuzz", targets: ["RepriseFuzz"]))
    package.targets.append(
        .executableTarget(
            name: "RepriseFuzz", dependencies: fuzzDependencies, path: "Fuzz/Targets",
            swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])]))
} else if hasStandIn {
    package.targets.append(
        .target(
            name: "RepriseFuzz", dependencies: fuzzDependencies, path: "Fuzz/Targets", swiftSettings: strict))
}

// For Xcode, which builds all targets of a package to test one. In a simulator no program can start another, so the
// commands are removed together with the tests that need them. The product `reprise` would also share Xcode's scheme
// and intermediate folder with `Reprise` on a case-insensitive disk.
if Context.environment["REPRISE_XCODE"] == "1" {
    let tests: Set = ["RepriseAVPlayerTests", "RepriseUITests", "RepriseURLSessionTests"]
    package.products.removeAll { $0.name == "reprise" }
    package.targets.removeAll { target in
        target.type == .executable || target.name == "TestSupport"
            || target.type == .test && !tests.contains(target.name)
    }
}

if hasStandIn {
    package.targets.append(
        .target(
            name: "AVFoundation", dependencies: ["Primitives"], path: "Tests/AVFoundationStandIn",
            swiftSettings: strict))
    // The part of the example app that needs no SwiftUI.
    package.targets.append(
        .target(
            name: "RepriseDemo", dependencies: ["RepriseAVPlayer", "RepriseUI", "AVFoundation"],
            path: "Examples/RepriseDemo/Sources/RepriseDemo", exclude: ["Views", "RepriseDemoApp.swift"],
            swiftSettings: strict))
}
