import HTTPSemantics
import HTTPTypes
import Testing

@Suite("Joining ranges") struct JoiningTests {
    static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
    static let later = "Mon, 07 Nov 1994 00:00:00 GMT"

    let joined = ResponseAction.fill(part(100..<200))

    func stored(etag: EntityTag? = nil, modified: String? = nil, at: String? = later) -> GenerationIdentity {
        var identity = storedUnvalidated
        identity.validators = Validators(
            etag: etag, lastModified: modified.flatMap { HTTPDate($0) }, date: at.flatMap { HTTPDate($0) })
        return identity
    }

    func separate(_ change: GenerationChange) -> ResponseAction { .newGeneration(part(100..<200), change) }

    @Test("A weak tag never joins ranges: RFC 9110 §8.8.3.2, §15.3.7.3")
    func weakTagNeverJoins() {
        let weak = stored(etag: tag("a", isWeak: true))
        #expect(
            action(for: partial("bytes 100-199/1000", etag: "W/\"a\""), stored: weak) == separate(.noStrongValidator))
        #expect(action(for: partial("bytes 100-199/1000", etag: "\"a\""), stored: weak) == separate(.noStrongValidator))
        #expect(action(for: partial("bytes 100-199/1000", etag: "W/\"a\"")) == separate(.noStrongValidator))
        #expect(
            action(for: partial("bytes 100-199/1000", etag: "W/\"b\""), stored: weak) == separate(.validatorChanged))
    }

    @Test("Without any validator nothing is joined under the strict policy: RFC 9110 §15.3.7.3")
    func nothingJoinsWithoutValidator() {
        let plain = partial("bytes 100-199/1000", etag: nil)
        #expect(action(for: plain, stored: storedUnvalidated) == separate(.noStrongValidator))
        #expect(action(for: plain, stored: storedUnvalidated, policy: .lengthAndDate) == separate(.noStrongValidator))
    }

    @Test("The same strong date joins ranges, a weak one does not: RFC 9110 §8.8.2.2")
    func strongDateJoins() {
        let dated = partial("bytes 100-199/1000", etag: nil, [.lastModified: Self.modified, .date: Self.later])
        #expect(action(for: dated, stored: stored(modified: Self.modified)) == joined)
        let fresh = partial("bytes 100-199/1000", etag: nil, [.lastModified: Self.modified, .date: Self.modified])
        #expect(action(for: fresh, stored: stored(modified: Self.modified)) == separate(.noStrongValidator))
        #expect(
            action(for: dated, stored: stored(modified: Self.modified, at: Self.modified))
                == separate(.noStrongValidator))
        #expect(action(for: dated, stored: stored(modified: Self.later)) == separate(.validatorChanged))
    }

    @Test("A 206 to an If-Range with a date may leave Last-Modified out: RFC 9110 §15.3.7")
    func confirmedDateJoins() {
        let conditional = FetchRequest(range: .bounded(100..<200), sentIfRange: true)
        let bare = partial("bytes 100-199/1000", etag: nil, [.date: Self.later])
        #expect(action(for: bare, to: conditional, stored: stored(modified: Self.modified)) == joined)
        #expect(action(for: bare, stored: stored(modified: Self.modified)) == separate(.noStrongValidator))
    }

    @Test("Only a strong date is confirmed by a bare 206: RFC 9110 §13.1.5, §15.3.7")
    func onlyAStrongDateIsConfirmed() {
        let conditional = FetchRequest(range: .bounded(100..<200), sentIfRange: true)
        let bare = partial("bytes 100-199/1000", etag: nil, [.date: Self.later])
        let tagged = stored(etag: tag("a"), modified: Self.modified)
        #expect(action(for: bare, to: conditional, stored: tagged) == separate(.noStrongValidator))
        let weak = stored(modified: Self.modified, at: Self.modified)
        #expect(action(for: bare, to: conditional, stored: weak) == separate(.noStrongValidator))
        let newlyTagged = partial("bytes 100-199/1000", etag: "\"a\"", [.date: Self.later])
        #expect(
            action(for: newlyTagged, to: conditional, stored: stored(modified: Self.modified))
                == separate(.noStrongValidator))
        let redated = partial("bytes 100-199/1000", etag: nil, [.lastModified: Self.later, .date: Self.later])
        #expect(
            action(for: redated, to: conditional, stored: stored(modified: Self.modified))
                == separate(.validatorChanged))
    }

    @Test("lengthAndDate needs two strong dates, and the same ones: RFC 9110 §8.8.2.2")
    func lengthAndDateNeedsStrongDates() {
        let dated: HTTPFields = [.lastModified: Self.modified, .date: Self.later]
        let weak = stored(modified: Self.modified, at: nil)
        #expect(
            action(for: partial("bytes 100-199/1000", etag: nil, dated), stored: weak, policy: .lengthAndDate)
                == separate(.noStrongValidator))
        let other: HTTPFields = [.lastModified: "Sat, 05 Nov 1994 08:49:37 GMT", .date: Self.later]
        #expect(
            action(
                for: partial("bytes 100-199/1000", etag: "W/\"a\"", other),
                stored: stored(etag: tag("a", isWeak: true), modified: Self.modified), policy: .lengthAndDate)
                == separate(.noStrongValidator))
    }

    @Test("lengthAndDate joins on an unchanged strong date and total if the tags prove nothing")
    func lengthAndDateJoins() {
        let identity = stored(etag: tag("a", isWeak: true), modified: Self.modified)
        let fields: HTTPFields = [.lastModified: Self.modified, .date: Self.later]
        let untagged = partial("bytes 100-199/1000", etag: nil, fields)
        #expect(action(for: untagged, stored: identity) == separate(.noStrongValidator))
        #expect(action(for: untagged, stored: identity, policy: .lengthAndDate) == joined)
        #expect(
            action(for: partial("bytes 100-199/*", etag: nil, fields), stored: identity, policy: .lengthAndDate)
                == .newGeneration(part(100..<200, of: nil), .noStrongValidator), "an unknown total is not unchanged")
        #expect(
            action(
                for: partial("bytes 100-199/1000", etag: "W/\"b\"", fields), stored: identity, policy: .lengthAndDate)
                == separate(.validatorChanged))
        let fresh: HTTPFields = [.lastModified: Self.modified, .date: Self.modified]
        #expect(
            action(for: partial("bytes 100-199/1000", etag: nil, fresh), stored: identity, policy: .lengthAndDate)
                == separate(.noStrongValidator))
    }

    @Test("immutable joins whatever the validators and the host say")
    func immutableJoins() {
        let other = partial("bytes 100-199/1000", etag: "\"b\"")
        #expect(action(for: other, policy: .immutable, host: "other.example") == joined)
        #expect(
            action(for: partial("bytes 100-199/1000", etag: nil), stored: storedUnvalidated, policy: .immutable)
                == joined)
    }

    @Test("Another final host joins only under the same strong tag")
    func otherHostNeedsStrongTag() {
        let dated = partial("bytes 100-199/1000", etag: nil, [.lastModified: Self.modified, .date: Self.later])
        let identity = stored(modified: Self.modified)
        #expect(action(for: dated, stored: identity, host: "CDN.example") == joined)
        #expect(action(for: dated, stored: identity, host: "other.example") == separate(.hostChanged))
        #expect(
            action(for: dated, stored: identity, policy: .lengthAndDate, host: "other.example")
                == separate(.hostChanged))
        #expect(action(for: partial("bytes 100-199/1000"), host: "other.example") == joined)
        var weak = identity
        weak.validators.etag = tag("a", isWeak: true)
        #expect(
            action(for: partial("bytes 100-199/1000", etag: "W/\"a\""), stored: weak, host: "other.example")
                == separate(.hostChanged))
        #expect(
            action(for: partial("bytes 100-199/1000", etag: "\"b\""), host: "other.example") == separate(.hostChanged))
    }
}
