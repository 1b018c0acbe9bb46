import Foundation
import TestLimits
import Testing

/// Apple rejects an app whose libraries call certain functions without declaring why.
@Suite("The privacy manifest", .limit(minutes: 1))
struct PrivacyManifestTests {
    /// Functions and properties of Apple's list of required reason APIs, by category.
    private static let listed: [String: String] = [
        "NSPrivacyAccessedAPICategoryFileTimestamp":
            "creationDate|modificationDate|contentModificationDateKey|creationDateKey|getattrlist|getattrlistbulk|fgetattrlist|stat|fstat|fstatat|lstat|getattrlistat",
        "NSPrivacyAccessedAPICategorySystemBootTime": "systemUptime|mach_absolute_time",
        "NSPrivacyAccessedAPICategoryDiskSpace":
            "volumeAvailableCapacityKey|volumeAvailableCapacityForImportantUsageKey|volumeAvailableCapacityForOpportunisticUsageKey|volumeTotalCapacityKey|systemFreeSize|systemSize|statfs|statvfs|fstatfs|fstatvfs",
        "NSPrivacyAccessedAPICategoryActiveKeyboards": "activeInputModes",
        "NSPrivacyAccessedAPICategoryUserDefaults": "UserDefaults",
    ]

    private static let sources = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources")

    /// The text of a module's sources, without comments.
    private static func code(of module: String) throws -> String {
        let folder = sources.appendingPathComponent(module)
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        let files = names.filter { $0.hasSuffix(".swift") || $0.hasSuffix(".c") }
        let texts = try files.map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }
        return texts.joined(separator: "\n").replacing(#/\/\/.*/#, with: "")
    }

    private static func categories(usedBy modules: [String]) throws -> Set<String> {
        let code = try modules.map(code).joined(separator: "\n")
        return try Set(
            listed.filter { try code.firstMatch(of: Regex("\\b(\($0.value))\\b *[(.]")) != nil }.map(\.key))
    }

    private static func manifest() throws -> [String: Any] {
        let data = try Data(contentsOf: sources.appendingPathComponent("Reprise/PrivacyInfo.xcprivacy"))
        return try #require(try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any])
    }

    @Test func itNamesTheCategoriesThatTheEngineUsesAndNoOther() throws {
        let declared = try #require(try Self.manifest()["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
        let names = declared.compactMap { $0["NSPrivacyAccessedAPIType"] as? String }
        let used = try Self.categories(usedBy: ["Reprise", "CFiles", "Primitives", "ByteRanges", "HTTPSemantics"])
        #expect(Set(names) == used)
        #expect(used.count == 2)
        for category in declared {
            let reasons = category["NSPrivacyAccessedAPITypeReasons"] as? [String]
            #expect(reasons?.isEmpty == false)
        }
    }

    /// They have no manifest of their own.
    @Test func whatElseAnAppLinksUsesNone() throws {
        #expect(try Self.categories(usedBy: ["RepriseURLSession", "RepriseAVPlayer"]).isEmpty)
    }

    @Test func nothingIsTrackedOrCollected() throws {
        let manifest = try Self.manifest()
        #expect(manifest["NSPrivacyTracking"] as? Bool == false)
        #expect((manifest["NSPrivacyTrackingDomains"] as? [Any])?.isEmpty == true)
        #expect((manifest["NSPrivacyCollectedDataTypes"] as? [Any])?.isEmpty == true)
    }
}
