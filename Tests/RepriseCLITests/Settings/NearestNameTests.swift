import TestLimits
import Testing

@testable import RepriseCLI

@Suite(.limit(minutes: 1)) struct NearestNameTests {
    @Test(
        "Optimal string alignment distances",
        arguments: [
            ("", "", 0), ("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("port", "prot", 1),
            ("ca", "abc", 3),
            ("port", "ports", 1), ("a", "b", 1),
        ])
    func distances(first: String, second: String, distance: Int) {
        #expect(NearestName.distance(first, second) == distance)
        #expect(NearestName.distance(second, first) == distance)
    }

    @Test(
        arguments: [
            ("prot", "port"), ("PORT", "port"), ("cache_dir", "cache-dir"), ("maxconnections", "max-connections"),
            ("cachedirectory", nil), ("zzz", nil), ("allow-hosts", "allow-host"), ("", nil),
        ] as [(String, String?)])
    func nearest(text: String, name: String?) {
        #expect(NearestName.to(text, among: SettingTable.inFiles.map(\.name)) == name)
    }
}
