import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CLAIM_TEMPLATES } from '../../console/src/screens/applications/claim-templates.ts'
import type { Json } from '../support/json.ts'

/** `APP_METADATA` is appMetadata. */
const toSource = (name: string): string =>
  name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())

test('the templates of claims are the lists of the documentation', () => {
  const documented = [...readFileSync('docs/claims.md', 'utf8').matchAll(/```json\n([^`]*)```/g)].map(
    ([, text = '']) => JSON.parse(text) as Json,
  )
  const offered = Object.values(CLAIM_TEMPLATES).map((mappings) =>
    mappings.map((mapping) => ({
      ...Object.fromEntries(Object.entries(mapping).filter(([, value]) => value !== null)),
      source: toSource(mapping.source),
      targets: mapping.targets.map((target) => target.toLowerCase()),
    })),
  )
  expect(offered).toEqual(documented)
})
