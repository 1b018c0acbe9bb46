import Foundation
import TestLimits
import Testing

@testable import Reprise
@testable import RepriseProxy

/// That documents, alerts and the board speak of metrics that exist, and of all of them.
@Suite(.limit(minutes: 1)) struct MetricsDocumentsTests {
    private static func text(_ path: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// All metrics, each with a sample at least.
    private static var families: [MetricFamily] {
        var figures = MetricFigures()
        figures.diskFree = 1
        figures.entries = EntryCounts()
        figures.cache.note(
            .fetchRetried(CacheKey("http://a.example/"), after: .zero, error: RepriseError(.originTimedOut, "")),
            because: .disk)
        figures.tokens = ["anna": TokenTally()]
        figures.parents.parents = ["10.0.0.5:8090": ParentTally.Counts()]
        return figures.families
    }

    /// The names that a query may use.
    private static var names: Set<String> {
        Set(
            families.flatMap { family in
                family.kind == .histogram ? ["_bucket", "_sum", "_count"].map { family.name + $0 } : [family.name]
            })
    }

    private static func namesUsed(_ text: String) -> Set<String> {
        Set(text.matches(of: #/\b(?:reprise|process)_[a-z_]+/#).map { String($0.output) })
    }

    @Test func theTableHasEachMetricAsItIsExported() throws {
        let rows = try Self.text("docs/metrics.md").matches(
            of: #/\n\| `([a-z_]+)` \| (counter|gauge|histogram) \| ([^|]*) ?\| ([^|]+) \|/#)
        let documented = rows.map { row in
            let labels = String(row.3).replacing("`", with: "").replacing(#/ +$/#, with: "")
            return [String(row.1), String(row.2), labels, String(row.4)].joined(separator: " | ")
        }
        let exported = Self.families.map { family in
            let labels = family.samples.first?.labels.map(\.name).joined(separator: ", ") ?? ""
            return [family.name, family.kind.rawValue, labels, family.help].joined(separator: " | ")
        }
        #expect(documented == exported)
    }

    @Test func everyMetricOfTheExampleExists() throws {
        let used = Self.namesUsed(try Self.text("docs/metrics.md"))
        let families = Set(Self.families.map(\.name))
        #expect(used.subtracting(Self.names).subtracting(families).isEmpty)
    }

    @Test(
        "what is asked of hosts leaves the others out, whose counts jump when a name changes",
        arguments: ["docs/metrics.md", "Deploy/prometheus/reprise-alerts.yml", "Deploy/grafana/reprise.json"])
    func hostsAreAskedByName(path: String) throws {
        let text = try Self.text(path).replacing("\\\"", with: "\"")
        let queries = text.matches(of: #/(?:rate|increase)\((reprise_origin_host_[a-z_]+)(\{[^}]*\})?\[/#)
        #expect(!queries.isEmpty)
        for query in queries { #expect(query.2?.contains("host!=\"other\"") == true, "\(query.1)") }
    }

    @Test("a host that loses its name adds nothing to the sums") func sumsOnlyCountNewTraffic() {
        var figures = MetricFigures()
        func bytes() -> [MetricFamily.Value] {
            figures.families.first { $0.name == "reprise_origin_bytes_total" }?.samples.map(\.value) ?? []
        }
        for number in 1...20 { figures.cache.origins.count("h\(number)") { $0.noteBytes(Int64(number * 100)) } }
        #expect(bytes() == [.integer(21_000)])
        figures.cache.origins.count("late") { $0.noteBytes(300) }
        #expect(figures.cache.origins.named["late"] != nil)
        #expect(bytes() == [.integer(21_300)])
    }

    @Test(arguments: ["Deploy/prometheus/reprise-alerts.yml", "Deploy/grafana/reprise.json"])
    func whatIsDeployedUsesMetricsThatExist(path: String) throws {
        let used = Self.namesUsed(try Self.text(path))
        #expect(used.count > 10)
        #expect(used.subtracting(Self.names).isEmpty)
    }

    @Test func theBoardShowsAlmostEverything() throws {
        let board = try Self.text("Deploy/grafana/reprise.json")
        let shown = Self.namesUsed(board)
        let missing = Self.families.filter { family in
            !shown.contains(family.name) && !shown.contains(family.name + "_bucket")
        }
        #expect(missing.map(\.name).isEmpty)
        struct Panel: Decodable {
            struct Place: Decodable { let x, y, w, h: Int }
            let id: Int
            let gridPos: Place
        }
        struct Board: Decodable { let panels: [Panel] }
        let panels = try JSONDecoder().decode(Board.self, from: Data(board.utf8)).panels
        #expect(Set(panels.map(\.id)).count == panels.count)
        #expect(panels.allSatisfy { $0.gridPos.x + $0.gridPos.w <= 24 })
        var taken = Set<Int>()
        for place in panels.map(\.gridPos) {
            for x in place.x..<place.x + place.w {
                for y in place.y..<place.y + place.h { #expect(taken.insert(y * 24 + x).inserted) }
            }
        }
    }
}
