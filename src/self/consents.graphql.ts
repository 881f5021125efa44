import { InvalidInput, NotFound } from '../errors.ts'
import { builder } from '../graphql/builder.ts'
import { requireClientId } from '../graphql/node.graphql.ts'
import { resultOf } from '../graphql/result.ts'
import { open, ownAccount } from '../graphql/scoped.ts'
import { revokeViewerConsent } from './consents.ts'

const RevokeViewerConsentPayload = builder
  .objectRef<{ revokedClientId: string }>('RevokeViewerConsentPayload')
  .implement({
    ...open('The client can do nothing for the person any more.'),
    fields: (t) => ({ revokedClientId: t.exposeID('revokedClientId', { description: 'Id of the client.' }) }),
  })

const RevokeViewerConsentInput = builder.inputType('RevokeViewerConsentInput', {
  description: 'Input of revokeViewerConsent.',
  fields: (t) => ({ clientId: t.id({ required: true, description: 'Id of the client.' }) }),
})

builder.mutationField('revokeViewerConsent', (t) =>
  t.field({
    ...ownAccount(
      'Takes back what I agreed to for a client, with the tokens and sessions that it got by it.',
    ),
    ...resultOf(InvalidInput, NotFound),
    type: RevokeViewerConsentPayload,
    args: { input: t.arg({ type: RevokeViewerConsentInput, required: true, description: 'The client.' }) },
    resolve: (_root, { input: { clientId } }, { ctx }) =>
      revokeViewerConsent(ctx, requireClientId(clientId, 'clientId')),
  }),
)
