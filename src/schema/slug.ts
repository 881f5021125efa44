import * as z from 'zod'

const SLUG_SYNTAX = /^[a-z0-9](-?[a-z0-9])*$/

const SLUG_MAX_LENGTH = 63

/** First path segments that the deployment uses itself. */
const RESERVED_SLUGS: ReadonlySet<string> = new Set([
  'health',
  'metrics',
  'assets',
  'console',
  'dev',
  'favicon.ico',
  'robots.txt',
  '.well-known',
])

/** Whether `value` can be the slug of a tenant. Other values cause no database lookup. */
export const isSlug = (value: string): boolean =>
  value.length <= SLUG_MAX_LENGTH && SLUG_SYNTAX.test(value) && !RESERVED_SLUGS.has(value)

/** The short name of an object in URLs. */
export const slugText = z
  .string('must be a string')
  .max(SLUG_MAX_LENGTH, `must have at most ${SLUG_MAX_LENGTH} characters`)
  .regex(SLUG_SYNTAX, 'must be lower-case letters, digits and single hyphens between them')
  .meta({ pattern: SLUG_SYNTAX.source })

/** The slug of a tenant. */
export const slug = slugText
  .refine((value) => !RESERVED_SLUGS.has(value), 'is reserved')
  .meta({ pattern: `^(?!(?:${[...RESERVED_SLUGS].join('|')})$)${SLUG_SYNTAX.source.slice(1)}` })
