import type { Call, Gql, Rest } from '../call.ts'
import { EMAIL, type Fixture, PHONE } from '../fixture.ts'

const toText = (text: string, fixture: Fixture): string =>
  ((fixture as unknown as Record<string, unknown>)[text] as string | undefined) ?? text

/** Of objects. Events have other forms on both surfaces, which test/lookup compares. */
export const LOOKUP_OPERATIONS: Record<string, Call[]> = {
  lookup: ['', ' ', 'x'.repeat(513), 'nothing', 'userId', 'clientId', 'acme', EMAIL, PHONE].map((text) => ({
    title: text,
    rest: (fixture): Rest => ['GET', `/lookup?${new URLSearchParams({ text: toText(text, fixture) })}`],
    gql: (fixture): Gql => ({
      query: `query($text: String!) { result: lookup(text: $text) { __typename kind id matchedBy name userId } }`,
      variables: { text: toText(text, fixture) },
      read: ({ result }) => ({ matches: result.map((match: object) => ({ ...match, event: null })) }),
    }),
  })),
}
