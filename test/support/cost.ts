import type { GraphqlBody } from './app.ts'

/** A response without `extensions.cost`, which test/graphql/cost.test.ts tests. */
export function withoutCost<Body extends GraphqlBody | null>(body: Body): Body {
  if (!body?.extensions?.cost) return body
  const { extensions, ...rest } = body
  const { cost: _, ...others } = extensions
  return (Object.keys(others).length > 0 ? { ...rest, extensions: others } : rest) as Body
}
