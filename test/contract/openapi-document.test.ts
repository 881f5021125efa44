import { expect, test } from 'vitest'
import { env } from '../../src/core/env.ts'
import { SYSTEM_TENANT } from '../../src/core/scopes.ts'
import { buildOpenApi } from '../support/openapi.ts'

/**
 * schema.graphql is compared by `npm run check:codegen`, openapi.json here. After an intended change:
 * `npx vitest run test/contract/openapi-document.test.ts -u`.
 */
test('openapi.json of tenant system, which has every operation, is the committed document', async () => {
  const text = JSON.stringify(await buildOpenApi(SYSTEM_TENANT), null, 2)
  await expect(`${text.replaceAll(env.baseUrl, 'https://login.example')}\n`).toMatchFileSnapshot(
    '../../docs/openapi.json',
  )
})
