import { InvalidInput, NotFound } from '../errors.ts'
import { builder } from '../graphql/builder.ts'
import { requireId } from '../graphql/node.graphql.ts'
import { resultOf } from '../graphql/result.ts'
import { open, ownAccount } from '../graphql/scoped.ts'
import { revokeViewerSession, revokeViewerSessions } from './own-sessions.ts'

const RevokeViewerSessionPayload = builder
  .objectRef<{ revokedSessionId: string }>('RevokeViewerSessionPayload')
  .implement({
    ...open('The session has ended.'),
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
    ...ownAccount('Ends a session of mine with what hangs on it; the current one ends the access token too.'),
    ...resultOf(InvalidInput, NotFound),
    type: RevokeViewerSessionPayload,
    args: { input: t.arg({ type: RevokeViewerSessionInput, required: true, description: 'Which session.' }) },
    resolve: (_root, { input }, { ctx }) =>
      revokeViewerSession(ctx, requireId('session', input.sessionId, 'sessionId')),
  }),
)

const RevokeViewerSessionsPayload = builder
  .objectRef<{ revokedSessionIds: string[] }>('RevokeViewerSessionsPayload')
  .implement({
    ...open('The sessions have ended.'),
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
      description: 'End the session that the access token depends on too, and with it the token.',
    }),
  }),
})

builder.mutationField('revokeViewerSessions', (t) =>
  t.field({
    ...ownAccount('Ends all other sessions of mine: I stay signed in here.'),
    ...resultOf(InvalidInput),
    type: RevokeViewerSessionsPayload,
    args: {
      input: t.arg({ type: RevokeViewerSessionsInput, required: true, description: 'Which sessions.' }),
    },
    resolve: (_root, { input }, { ctx }) => revokeViewerSessions(ctx, input),
  }),
)
