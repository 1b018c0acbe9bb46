import HTTPSemantics
import HTTPTypes
import Testing

@testable import Reprise

/// When responses within one play show that a host splices.
@Suite struct SplicingEvidenceTests {
    private static func sighting(
        _ length: Int64?, at url: String = "https://cdn.example/a", tag: String? = nil, date: Int? = nil
    ) throws -> SplicingEvidence.Sighting {
        var fields = HTTPFields()
        fields[.eTag] = tag.map { "\"\($0)\"" }
        fields[.lastModified] = date.map { "Wed, 0\($0) Jan 2025 00:00:00 GMT" }
        return SplicingEvidence.Sighting(
            url: try ResourceURL(url), completeLength: length, validators: Validators(fields))
    }

    private static func shows(_ sightings: [SplicingEvidence.Sighting]) -> [Bool] {
        var evidence = SplicingEvidence()
        return sightings.map { evidence.add($0) }
    }

    @Test func anotherTargetWithAnotherLengthShowsIt() throws {
        let files = [
            try Self.sighting(100, at: "https://cdn.example/1"), try Self.sighting(101, at: "https://cdn.example/2"),
        ]
        #expect(Self.shows(files) == [false, true])
    }

    @Test func theSameDateWithAnotherLengthShowsIt() throws {
        #expect(
            Self.shows([try Self.sighting(100, tag: "a", date: 1), try Self.sighting(101, tag: "b", date: 1)])
                == [false, true])
    }

    @Test func aNewEditionDoesNot() throws {
        let (old, new) = (try Self.sighting(100, tag: "a", date: 1), try Self.sighting(101, tag: "b", date: 2))
        #expect(Self.shows([old, new, new, old, new]) == [false, false, false, false, false])
    }

    @Test func threeFilesShowIt() throws {
        let files = try ["a", "b", "c"].map { try Self.sighting(100, tag: $0) }
        #expect(Self.shows(files) == [false, false, true])
        #expect(Self.shows([files[0], files[1], files[0], files[2]]) == [false, false, false, true])
    }

    @Test("servers that share their load, with a tag of their own each, have the same file")
    func tagsOfServersDoNot() throws {
        let files = try ["a", "b", "c", "d"].map { try Self.sighting(100, tag: $0, date: 1) }
        #expect(Self.shows(files) == [false, false, false, false])
    }

    @Test("signed URLs of one file differ") func signaturesDoNot() throws {
        let files = try (1...4).map { try Self.sighting(100, at: "https://cdn.example/a?signature=\($0)", date: 1) }
        #expect(Self.shows(files) == [false, false, false, false])
    }

    @Test func aResponseThatSaysNothingDoesNot() throws {
        let files = [try Self.sighting(100), try Self.sighting(nil), try Self.sighting(nil), try Self.sighting(nil)]
        #expect(Self.shows(files) == [false, false, false, false])
    }

    @Test func littleIsKept() throws {
        var evidence = SplicingEvidence()
        for length in 1...1_000 { _ = evidence.add(try Self.sighting(Int64(length))) }
        #expect(evidence.sightings.count == SplicingEvidence.enough)
    }
}

/// Which hosts are remembered, and for how long.
@Suite struct SplicingHostTableTests {
    private static let day: Int64 = 86_400

    @Test func aHostIsRememberedForFourWeeks() {
        var table = SplicingHostTable()
        #expect(table.date(of: "a", at: 0) == nil)
        table.note("a", at: 10 * Self.day)
        #expect(table.date(of: "a", at: 38 * Self.day - 1) == 10 * Self.day)
        #expect(table.date(of: "a", at: 38 * Self.day) == nil)
        table.note("a", at: 20 * Self.day)
        #expect(table.date(of: "a", at: 38 * Self.day) == 20 * Self.day, "it was seen again")
        #expect(table.date(of: "b", at: 38 * Self.day) == nil)
    }

    @Test func aTimeFarInTheFutureDoesNotCount() {
        #expect(SplicingHostTable(["a": 1_000 * Self.day]).date(of: "a", at: 0) == nil)
        #expect(SplicingHostTable(["a": .max]).date(of: "a", at: .min) == nil)
    }

    @Test func theOldestIsForgottenBeyondTheCapacity() {
        var table = SplicingHostTable()
        for number in 0..<300 { table.note("\(number)", at: Int64(number)) }
        #expect(table.lastSeen.count == 256)
        #expect(table.date(of: "43", at: 300) == nil)
        #expect(table.date(of: "44", at: 300) == 44)
    }
}
