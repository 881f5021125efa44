import { withPublicAccess } from '../../graphql/field-access.ts'
import { defineObjectType } from '../../graphql/shape-fields.ts'
import { defineComputation } from '../../operations/query.ts'
import type { RestRoute } from '../../rest/route.ts'
import { previewToken } from './preview-token.ts'
import { PreviewInput, PreviewShape, type TokenPreview } from './token-preview.fields.ts'

/** As a page of 10 rows. */
const COST = 20

export const previewOperations: readonly RestRoute[] = defineComputation<TokenPreview>({
  name: 'previewToken',
  summary:
    'Shows the claims that a client would get about a user who signs in now by a code and consents, by the functions that issue tokens. Nothing is signed or written. Needs users:read, clients:read, users:read_app_metadata where a mapping reads appMetadata, and organizations:read for an organization.',
  scopes: ['users:read', 'clients:read'],
  args: PreviewInput,
  ref: defineObjectType<TokenPreview>(
    PreviewShape,
    withPublicAccess(String(PreviewShape.meta()?.description)),
  ),
  cost: COST,
  response: PreviewShape,
  toBody: (_ctx, preview) => preview,
  path: '/token-preview',
  run: previewToken,
})
