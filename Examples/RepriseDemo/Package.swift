// swift-tools-version: 6.3
import PackageDescription

let package = Package(
    name: "RepriseDemo",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .visionOS(.v2)],
    // HLS plays through a proxy in the app; the command, and TLS of SwiftNIO's own, are not needed.
    dependencies: [.package(name: "reprise", path: "../..", traits: ["Streams"])],
    targets: [
        .executableTarget(
            name: "RepriseDemo",
            dependencies: [
                .product(name: "RepriseAVPlayer", package: "reprise"), .product(name: "RepriseUI", package: "reprise"),
            ],
            // SwiftUI's VideoPlayer crashes in a program to which AVKit is not linked.
            linkerSettings: [.linkedFramework("AVKit", .when(platforms: [.macOS, .iOS, .tvOS, .visionOS]))])
    ],
    swiftLanguageModes: [.v6]
)
