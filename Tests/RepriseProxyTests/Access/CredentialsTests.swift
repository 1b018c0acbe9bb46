import TestLimits
import Testing

@testable import RepriseProxy

/// What clients show in `Authorization`, in every spelling.
@Suite(.limit(minutes: 1)) struct CredentialsTests {
    @Test(
        "schemes without case (RFC 9110 §11.1), Basic as in RFC 7617 §2, Bearer as in RFC 6750 §2.1",
        arguments: [
            ("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", .basic(user: "Aladdin", password: "open sesame")),
            // "test:123£" in UTF-8, the example of RFC 7617 §2.1.
            ("bAsIc dGVzdDoxMjPCow==", .basic(user: "test", password: "123£")),
            ("Basic   QTpiOmM=", .basic(user: "A", password: "b:c")), ("Basic Og==", .basic(user: "", password: "")),
            ("Bearer mF_9.B5f-4.1JqM", .bearer("mF_9.B5f-4.1JqM")), ("BEARER  x", .bearer("x")),
            ("Basic QWxhZGRpbg==", nil), ("Basic /w==", nil), ("Basic !", nil), ("Basic", nil), ("Bearer", nil),
            ("", nil),
            ("Digest username=\"a\"", nil), ("mF_9.B5f-4.1JqM", nil),
        ] as [(String, Credentials?)]) func spellings(value: String, credentials: Credentials?)
    {
        #expect(Credentials(value) == credentials)
    }
}
