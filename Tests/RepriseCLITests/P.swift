import Testing
@Test func placeholderP() {}
