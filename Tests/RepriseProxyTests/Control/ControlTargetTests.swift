import TestLimits
import Testing

@testable import RepriseProxy

@Suite(.limit(minutes: 1)) struct ControlTargetTests {
    @Test func pathAndParametersAreTakenApart() throws {
        let target = try ControlTarget("api/entries?url=http%3A%2F%2Fa.example%2Fb%3Fc&dry=1&tag=a+b")
        #expect(target.path == "entries")
        #expect(target.parameters.map(\.name) == ["url", "dry", "tag"])
        #expect(target.parameters.map(\.value) == ["http://a.example/b?c", "1", "a b"])
        #expect(try ControlTarget("status.json").parameters.isEmpty)
    }

    @Test(arguments: ["entries?a=%", "entries?a=%4", "entries?a=%zz", "entries?a=%+1", "entries?a=%ff", "entries?%=1"])
    func whatIsNoEncodingIsRefused(text: String) {
        #expect(throws: ControlFailure.self) { try ControlTarget(text[...]) }
    }

    @Test func parametersAreCounted() throws {
        let many = Array(repeating: "a=1", count: 256).joined(separator: "&")
        #expect(try ControlTarget("entries?\(many)").parameters.count == 256)
        #expect(throws: ControlFailure.self) { try ControlTarget("entries?\(many)&a=1") }
    }

    @Test(
        arguments: [
            ("/-/status.json", nil, true), ("/-/", nil, true), ("/-", nil, false), ("/https/a.example/-/x", nil, false),
            ("/secret/-/x", "secret", true), ("/-/x", "secret", false), ("/secrets/-/x", "secret", false),
            ("/secret-/x", "secret", false), ("//-/x", nil, false), ("", nil, false), ("/secret", "secret", false),
        ] as [(String, String?, Bool)])
    func controlIsRecognizedBehindTheToken(target: String, token: String?, isMeant: Bool) {
        #expect((ControlTarget.text(in: target, token: token) != nil) == isMeant)
    }
}
