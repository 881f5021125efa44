import { targetFault } from './fetcher.ts'
import { text, type UrlRules, urlFault } from './fields.ts'

/**
 * A URL that the service itself is to ask or to tell: what the fetcher would refuse each time, as far as that shows without a
 * look-up of its name, is refused where it is given.
 */
export const fetchedUrl = (rules: UrlRules) =>
  text(2000)
    .superRefine((value, context) => {
      const fault = (URL.canParse(value) ? targetFault(new URL(value)) : null) ?? urlFault(value, rules)
      if (fault) context.addIssue(fault)
    })
    .meta({ format: 'uri' })
