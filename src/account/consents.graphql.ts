import { InvalidInput, NotFound } from '../core/errors.ts'
import { builder } from '../graphql/builder.ts'
import { withAccountScope, withPublicAccess } from '../graphql/field-access.ts'
import { requireClientId } from '../graphql/node.graphql.ts'
import { toResultOptions } from '../graphql/result-options.ts'
import { revokeViewerConsent } from './consents.ts'

const RevokeViewerConsentPayload = builder
  .objectRef<{ revokedClientId: string }>('RevokeViewerConsentPayload')
  .implement({
    ...withPublicAccess('The consent is revoked.'),
    fields: (t) => ({ revokedClientId: t.exposeID('revokedClientId', { description: 'Id of the client.' }) }),
  })

const RevokeViewerConsentInput = builder.inputType('RevokeViewerConsentInput', {
  description: 'Input of revokeViewerConsent.',
  fields: (t) => ({ clientId: t.id({ required: true, description: 'Id of the client.' }) }),
})

builder.mutationField('revokeViewerConsent', (t) =>
  t.field({
    ...withAccountScope(
      'Revokes the consent of the calling user for a client, with the tokens and sessions of the client.',
    ),
    ...toResultOptions(InvalidInput, NotFound),
    type: RevokeViewerConsentPayload,
    args: { input: t.arg({ type: RevokeViewerConsentInput, required: true, description: 'The client.' }) },
    resolve: (_root, { input: { clientId } }, { ctx }) =>
      revokeViewerConsent(ctx, requireClientId(clientId, 'clientId')),
  }),
)
