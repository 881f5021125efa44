import { ApiKeyRotation, ViewerApiKeyCreate } from '../api-keys/api-keys.fields.ts'
import {
  API_KEY,
  NEW_KEY_OUTPUT,
  REVOKED_KEY_OUTPUT,
  ROTATED_KEY_OUTPUT,
} from '../api-keys/api-keys.operations.ts'
import { MAX_KEYS } from '../api-keys/key-rules.ts'
import { Conflict, NotFound, StepUpRequired, UserLocked } from '../core/errors.ts'
import { builder } from '../graphql/builder.ts'
import { withAccountScope } from '../graphql/field-access.ts'
import { defineMutation } from '../operations/mutation.ts'
import { createViewerApiKey, listViewerApiKeys, revokeViewerApiKey, rotateViewerApiKey } from './api-keys.ts'
import { Viewer } from './viewer.graphql.ts'

builder.objectField(Viewer, 'apiKeys', (t) =>
  t.field({
    ...withAccountScope('The API keys of the calling user, oldest first.'),
    type: [API_KEY.ref],
    nullable: true,
    complexity: { field: 1, multiplier: MAX_KEYS.user },
    resolve: (_viewer, _args, { ctx }) => listViewerApiKeys(ctx),
  }),
)

defineMutation({
  name: 'createViewerApiKey',
  summary:
    'Creates an API key of the calling user, where the tenant has userApiKeys on. The response has the key, which is shown only once.',
  scope: 'account',
  input: ViewerApiKeyCreate,
  errors: [StepUpRequired, Conflict, UserLocked],
  output: NEW_KEY_OUTPUT,
  run: (ctx, _ids, input) => createViewerApiKey(ctx, input as object),
})

defineMutation({
  name: 'rotateViewerApiKey',
  summary:
    'Replaces an API key of the calling user by a new one, which is shown only once. The current one is accepted for overlapSeconds.',
  scope: 'account',
  targets: ['apiKeyId'],
  input: ApiKeyRotation,
  errors: [StepUpRequired, NotFound],
  output: ROTATED_KEY_OUTPUT,
  run: (ctx, { apiKeyId }, input) => rotateViewerApiKey(ctx, apiKeyId, input as object),
})

defineMutation({
  name: 'revokeViewerApiKey',
  summary: 'Revokes an API key of the calling user.',
  scope: 'account',
  targets: ['apiKeyId'],
  errors: [NotFound],
  output: REVOKED_KEY_OUTPUT,
  run: (ctx, { apiKeyId }) => revokeViewerApiKey(ctx, apiKeyId),
})
