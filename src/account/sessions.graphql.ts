import { InvalidInput, NotFound } from '../core/errors.ts'
import { builder } from '../graphql/builder.ts'
import { withAccountScope, withPublicAccess } from '../graphql/field-access.ts'
import { requireNodeId } from '../graphql/node.graphql.ts'
import { toResultOptions } from '../graphql/result-options.ts'
import { revokeViewerSession, revokeViewerSessions } from './sessions.ts'

const RevokeViewerSessionPayload = builder
  .objectRef<{ revokedSessionId: string }>('RevokeViewerSessionPayload')
  .implement({
    ...withPublicAccess('The session has ended.'),
    fields: (t) => ({
      revokedSessionId: t.exposeID('revokedSessionId', { description: 'Id of the session.' }),
    }),
  })

const RevokeViewerSessionInput = builder.inputType('RevokeViewerSessionInput', {
  description: 'Input of revokeViewerSession.',
  fields: (t) => ({ sessionId: t.id({ required: true, description: 'Id of the session.' }) }),
})

builder.mutationField('revokeViewerSession', (t) =>
  t.field({
    ...withAccountScope(
      'Ends a session of the calling user with its client sessions and tokens; the current session includes the access token.',
    ),
    ...toResultOptions(InvalidInput, NotFound),
    type: RevokeViewerSessionPayload,
    args: { input: t.arg({ type: RevokeViewerSessionInput, required: true, description: 'The session.' }) },
    resolve: (_root, { input }, { ctx }) =>
      revokeViewerSession(ctx, requireNodeId('session', input.sessionId, 'sessionId')),
  }),
)

const RevokeViewerSessionsPayload = builder
  .objectRef<{ revokedSessionIds: string[] }>('RevokeViewerSessionsPayload')
  .implement({
    ...withPublicAccess('The sessions have ended.'),
    fields: (t) => ({
      revokedSessionIds: t.idList({
        description: 'Ids of the sessions that were active.',
        resolve: ({ revokedSessionIds }) => revokedSessionIds,
      }),
    }),
  })

const RevokeViewerSessionsInput = builder.inputType('RevokeViewerSessionsInput', {
  description: 'Input of revokeViewerSessions.',
  fields: (t) => ({
    includeCurrent: t.boolean({
      description: 'Also end the session that the access token depends on, and with it the token.',
    }),
  }),
})

builder.mutationField('revokeViewerSessions', (t) =>
  t.field({
    ...withAccountScope('Ends all other sessions of the calling user. The current session stays active.'),
    ...toResultOptions(InvalidInput),
    type: RevokeViewerSessionsPayload,
    args: {
      input: t.arg({ type: RevokeViewerSessionsInput, required: true, description: 'The sessions.' }),
    },
    resolve: (_root, { input }, { ctx }) => revokeViewerSessions(ctx, input),
  }),
)
