import { findTargetIssue } from '../core/network/fetcher.ts'
import { text } from './input-shapes.ts'
import { createUrlPattern, findUrlIssue, type UrlRules } from './url-shapes.ts'

/**
 * A URL that Vestibule itself requests. What the fetcher would reject on every request is rejected on input,
 * as far as it is visible without a DNS lookup.
 */
export const createFetchedUrl = (rules: UrlRules) =>
  text(2000)
    .superRefine((value, context) => {
      const issue =
        (URL.canParse(value) ? findTargetIssue(new URL(value)) : null) ?? findUrlIssue(value, rules)
      if (issue) context.addIssue(issue)
    })
    .meta({ format: 'uri', pattern: createUrlPattern(rules) })
