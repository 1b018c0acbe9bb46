import HTTPSemantics
import HTTPTypes
import Testing
@testable import RepriseAVPlayer

@Suite struct RepresentationTests {
    private func head(_ fields: [(HTTPField.Name, String)]) -> HTTPResponse {
        var response = HTTPResponse(status: .ok)
        for (name, value) in fields { response.headerFields[name] = value }
        return response
    }

    private let tagged = Representation(
        completeLength: 100,
        validators: Validators(head: [(.eTag, "\"v1\""), (.lastModified, "Wed, 01 Jan 2025 00:00:00 GMT")]))
    private let bare = Representation(completeLength: 100, validators: Validators())

    @Test func validatorsDecideAboutAHead() {
        #expect(!tagged.isContradicted(by: head([(.eTag, "\"v1\""), (.contentLength, "7")])))
        #expect(!tagged.isContradicted(by: head([(.eTag, "W/\"v1\"")])))
        #expect(tagged.isContradicted(by: head([(.eTag, "\"v2\""), (.contentLength, "100")])))
        #expect(!tagged.isContradicted(by: head([(.lastModified, "Wed, 01 Jan 2025 00:00:00 GMT")])))
        #expect(tagged.isContradicted(by: head([(.lastModified, "Thu, 02 Jan 2025 00:00:00 GMT")])))
    }

    @Test func withoutValidatorsTheLengthDecidesIfItSaysSomething() {
        #expect(bare.isContradicted(by: head([(.contentLength, "99")])))
        #expect(!bare.isContradicted(by: head([(.contentLength, "100")])))
        #expect(!bare.isContradicted(by: head([(.contentLength, "0")])))
        #expect(!bare.isContradicted(by: head([])))
        #expect(!bare.isContradicted(by: head([(.contentLength, "99"), (.contentEncoding, "gzip")])))
    }
}

extension Validators {
    fileprivate init(head fields: [(HTTPField.Name, String)]) {
        var all = HTTPFields()
        for (name, value) in fields { all[name] = value }
        self.init(all)
    }
}
