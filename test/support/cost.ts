import type { GraphqlBody } from './app.ts'

/** An answer without what every answer says of its cost (test/graphql-cost.test.ts), for tests of everything else. */
export function withoutCost<Body extends GraphqlBody | null>(body: Body): Body {
  if (!body?.extensions?.cost) return body
  const { extensions, ...rest } = body
  const { cost: _, ...others } = extensions
  return (Object.keys(others).length > 0 ? { ...rest, extensions: others } : rest) as Body
}
