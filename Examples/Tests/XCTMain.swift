// With this the tests are not looked for in an index of the sources, which would take the compiler a fifth of its time.
import Testing

await Testing.__swiftPMEntryPoint() as Never
