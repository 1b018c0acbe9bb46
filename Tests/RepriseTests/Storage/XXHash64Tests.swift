import Testing

@testable import Reprise

/// Vectors: github.com/Cyan4973/xxHash (tests/sanity_test_vectors.h and the specification), computed with seed 0.
@Suite struct XXHash64Tests {
    @Test(
        "XXH64 of published texts",
        arguments: [
            ("", 0xEF46_DB37_51D8_E999), ("a", 0xD24E_C4F1_A98C_6E5B), ("abc", 0x44BC_2CF5_AD77_0999),
            ("xxhash", 0x32DD_3895_2C4B_C720), ("Nobody inspects the spammish repetition", 0xFBCE_A83C_8A37_8BF1),
        ] as [(String, UInt64)])
    func publishedTexts(text: String, expected: UInt64) {
        #expect(Array(text.utf8).withUnsafeBytes { XXHash64.checksum(of: $0) } == expected)
    }

    /// Bytes 0, 1, 2 … of each length, hashed with the reference implementation.
    @Test("every tail length gives the reference's value")
    func everyTailLength() {
        for (length, expected) in Self.reference {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
            #expect(bytes.withUnsafeBytes { XXHash64.checksum(of: $0) } == expected, "length \(length)")
        }
    }

    @Test("the way the bytes are cut does not change the checksum")
    func piecesAddUp() {
        let bytes = (0..<500).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let whole = bytes.withUnsafeBytes { XXHash64.checksum(of: $0) }
        for step in [1, 2, 3, 7, 8, 13, 31, 32, 33, 64, 100] {
            var hash = XXHash64()
            for start in stride(from: 0, to: bytes.count, by: step) {
                Array(bytes[start..<min(start + step, bytes.count)]).withUnsafeBytes { hash.update($0) }
            }
            #expect(hash.digest() == whole, "in steps of \(step)")
        }
    }

    private static let reference: [(Int, UInt64)] = [
        (0, 0xEF46DB3751D8E999), (1, 0xE934A84ADB052768), (2, 0x4865A00BA85B7CD6), (3, 0xE5C7BB4533BC65DD),
        (4, 0xFFCED8604453CC1E), (5, 0xDD0274386E26030C), (6, 0x438E2507BF950423), (7, 0x14CC643F630C72D2),
        (8, 0x884A173614B81B8D), (9, 0x67D85784A7C78C5B), (10, 0xF76D60EC32541987), (11, 0x652A564A95365ACA),
        (12, 0x424AF23F1F08DCA5), (13, 0x13D17C4C779723A8), (14, 0x5CDA8B69BBFC1D45), (15, 0xA948F5F0F6ABAC2D),
        (16, 0x44B6EF2FB84169F7), (17, 0x5603E60C527599B6), (18, 0x50297AF5A62C6C94), (19, 0xF74E4B128DEB27AE),
        (20, 0xA3E3FBE96798D8AC), (21, 0x742B5135879D8608), (22, 0xE85325844A45E58B), (23, 0x9261C231BDA56181),
        (24, 0xDD14A0292632BE9B), (25, 0x73F9ACB5ACBAE666), (26, 0xC2BF3773323881B0), (27, 0xAC2D59A1653FCB2B),
        (28, 0x1424BB04E9F164FF), (29, 0x91B302CB6EE942E4), (30, 0x76E444D8A036C867), (31, 0xC346D2B59B4D8EE1),
        (32, 0xCBF59C5116FF32B4), (33, 0x0C535D1ACAFB8EAD), (34, 0xFCD5494424F0C640), (35, 0xF8C4B2DACBDCBA83),
        (36, 0xDDE0EF85E3AEF05C), (37, 0xD93FA2DFEE5C24C9), (38, 0x68367A0EC49135CA), (39, 0x00A396EF1679A859),
        (40, 0xF5DA40F1B11741E9), (41, 0x0CF5F0EA71233FF0), (42, 0x4E096C2D626CBDC8), (43, 0x599BD13C3D820DF7),
        (44, 0xA733D156DB2BB292), (45, 0x10FDD84D6409ABDF), (46, 0xF311D6DE73D58535), (47, 0x0D9883A03E7BFBB8),
        (48, 0x8FE437632DA06964), (49, 0xFEB66C71A897FC0F), (50, 0x21044DE93561A992), (51, 0x1CAAE8C4C69354A7),
        (52, 0xBAFD7B56910EEAFD), (53, 0x9A0BC735DB8CFF3A), (54, 0x40DFF9F7804ED13A), (55, 0x511CD496994EA839),
        (56, 0x0CD869F80FF2B918), (57, 0x714D82B2BAE0ED0E), (58, 0x471C1F758CB86BD7), (59, 0xBF847336DBC5AA7D),
        (60, 0x41B11A75C6F245C5), (61, 0xFFE93B2F24455ED0), (62, 0x66C42974C8C1CA8C), (63, 0xE26AA9E2A95F8E4F),
        (64, 0xF7C67301DB6713F0), (65, 0xC31EB63B2AE4465B), (66, 0xE13C3985248FCE22), (67, 0x37D336F497002EE1),
        (68, 0xFF292FA9D227CC70), (69, 0x218A050AEC1C8635), (127, 0x464D085810CE0199), (128, 0x7A7FE14647B9AB92),
        (129, 0x0BA25DFD6E891FCF), (255, 0x0F7D97507CAAD693), (256, 0x1FACBE8406CD904B), (257, 0x80381162756D40E6),
        (1000, 0x6EF436B00EBA4078), (65536, 0x8B778F53FD34FC28),
    ]
}
