import { EventInterface } from '../../events/event-types.graphql.ts'
import { EVENT } from '../../events/events.operations.ts'
import { withPublicAccess } from '../../graphql/field-access.ts'
import { ClientRef, UserRef } from '../../graphql/object-refs.ts'
import { defineObjectType } from '../../graphql/shape-fields.ts'
import { defineComputation } from '../../operations/query.ts'
import type { RestRoute } from '../../rest/route.ts'
import { explainSignIn, type SignInExplanation } from './explain-sign-in.ts'
import {
  EVENT_DESCRIPTION,
  ExplainInput,
  ExplanationBodyShape,
  ExplanationShape,
} from './sign-in-explanation.fields.ts'

/** As a page of 25 rows. */
const COST = 50

const ExplanationRef = defineObjectType<SignInExplanation>(
  ExplanationShape,
  withPublicAccess(String(ExplanationBodyShape.meta()?.description)),
  (t) => ({
    event: t.field({
      type: EventInterface,
      nullable: true,
      description: EVENT_DESCRIPTION,
      resolve: ({ event }) => event,
    }),
    user: t.field({
      type: UserRef,
      nullable: true,
      description: 'The user, if there is one.',
      resolve: ({ userId }, _args, { loaders }) => (userId === null ? null : loaders.user.load(userId)),
    }),
    client: t.field({
      type: ClientRef,
      nullable: true,
      description: 'The client, if it is registered.',
      resolve: ({ clientId }, _args, { loaders }) =>
        clientId === null ? null : loaders.client.load(clientId),
    }),
  }),
)

export const explanationOperations: readonly RestRoute[] = defineComputation<SignInExplanation>({
  name: 'explainSignIn',
  summary:
    'Explains how a sign-in of a user at a client is decided, without effect: each check with its outcome, its rule, and the smallest change that lets it pass.',
  scopes: ['users:read', 'clients:read', 'events:read'],
  args: ExplainInput,
  ref: ExplanationRef,
  cost: COST,
  response: ExplanationBodyShape,
  toBody: (ctx, { event, ...explanation }) => ({ ...explanation, event: event && EVENT.toBody(ctx, event) }),
  path: '/sign-in-explanation',
  run: explainSignIn,
})
