import { InvalidInput } from '../core/errors.ts'
import { builder } from '../graphql/builder.ts'
import { withAccountScope, withPublicAccess } from '../graphql/field-access.ts'
import { toResultOptions } from '../graphql/result-options.ts'
import { type AccountDeletion, cancelViewerDeletion, requestViewerDeletion } from './account-deletion.ts'
import { STEP_UP_DESCRIPTION } from './step-up.ts'

/** A request of the calling user to be deleted. */
export const AccountDeletionRef = builder.objectRef<AccountDeletion>('AccountDeletion').implement({
  ...withPublicAccess('The request of a user to be deleted.'),
  fields: (t) => ({
    requestedAt: t.expose('requestedAt', { type: 'DateTime', description: 'When the user asked for it.' }),
    dueAt: t.expose('dueAt', {
      type: 'DateTime',
      description: 'From when on the user is deleted. Until then the user can cancel it.',
    }),
  }),
})

const SetViewerDeletionInput = builder.inputType('SetViewerDeletionInput', {
  description: 'Input of setViewerDeletion.',
  fields: (t) => ({
    requested: t.boolean({
      required: true,
      description: 'true requests the deletion, unless it is requested already; false cancels the request.',
    }),
  }),
})

const SetViewerDeletionPayload = builder
  .objectRef<{ deletion: AccountDeletion | null }>('SetViewerDeletionPayload')
  .implement({
    ...withPublicAccess('The deletion of the calling user is requested, or not any more.'),
    fields: (t) => ({
      deletion: t.field({
        type: AccountDeletionRef,
        nullable: true,
        description: 'The request; null without one.',
        resolve: ({ deletion }) => deletion,
      }),
    }),
  })

builder.mutationField('setViewerDeletion', (t) =>
  t.field({
    ...withAccountScope(
      `Requests the deletion of the calling user after the days of the tenant's setting accountDeletionDays, or cancels the request. A request: ${STEP_UP_DESCRIPTION}`,
    ),
    ...toResultOptions(InvalidInput),
    type: SetViewerDeletionPayload,
    args: {
      input: t.arg({ type: SetViewerDeletionInput, required: true, description: 'What the user wants.' }),
    },
    resolve: async (_root, { input: { requested } }, { ctx }) => {
      if (requested) return { deletion: await requestViewerDeletion(ctx) }
      await cancelViewerDeletion(ctx)
      return { deletion: null }
    },
  }),
)
