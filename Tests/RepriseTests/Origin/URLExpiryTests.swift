import Testing

@testable import Reprise

/// When signed URLs end, in the forms that their makers document.
@Suite struct URLExpiryTests {
    /// 2026-11-24T10:15:00Z, by `date -u -d`.
    private static let moment: Int64 = 1_795_515_300

    @Test(arguments: [
        ("Expires=1795515300&Signature=x", moment),
        ("a=b&expires=1795515300000", moment),
        ("X-Amz-Date=20261124T101500Z&X-Amz-Expires=60", moment + 60),
        ("X-Goog-Expires=60&X-Goog-Date=20261124T101500Z", moment + 60),
        ("sv=1&se=2026-11-24T10%3A15%3A00Z&sig=x", moment),
        ("hdnea=st=1~exp=1795515300~acl=/*~hmac=x", moment),
        ("hdnts=exp%3D1795515300%7Eacl%3D/*", moment),
        ("Expires=1795515400&se=2026-11-24T10:15:00Z", moment),
    ])
    func theEndIsRead(query: String, end: Int64) throws {
        #expect(URLExpiry.end(of: try ResourceURL("https://host/a.mp3?\(query)")) == end)
    }

    @Test(arguments: [
        "", "?", "?Expires", "?Expires=", "?Expires=soon", "?Expires=-5", "?Expires=99999999999999999999",
        "?X-Amz-Expires=60", "?X-Amz-Date=20261124T101500Z&X-Amz-Expires=99999999999", "?se=2026-13-24T10:15:00Z",
        "?X-Amz-Date=20261324T101500Z&X-Amz-Expires=1", "?se=%", "?se=%3", "?hdnea=exp=~",
    ])
    func nothingElseIsAnEnd(query: String) throws {
        #expect(URLExpiry.end(of: try ResourceURL("https://host/a.mp3\(query)")) == nil)
    }
}
