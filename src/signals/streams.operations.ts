import { Conflict, NotFound, RateLimited } from '../core/errors.ts'
import { withScope } from '../graphql/field-access.ts'
import { Node, registerNode } from '../graphql/node.graphql.ts'
import { defineObjectType } from '../graphql/shape-fields.ts'
import { defineList } from '../operations/list.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineLookup } from '../operations/query.ts'
import { defineResource } from '../operations/resource.ts'
import type { RestRoute } from '../rest/route.ts'
import { encodeIdCursor } from '../schema/page.ts'
import { idShape } from '../schema/response-shapes.ts'
import { deleteSignalStream, updateSignalStream, verifySignalStream } from './stream-administration.ts'
import { SignalStreamPatch, SignalStreamShape, SignalStreamVerification } from './streams.fields.ts'
import {
  findStreams,
  getSignalStream,
  listSignalStreams,
  type SignalStream,
  toStreamListName,
} from './streams.ts'

const SIGNAL_STREAM = defineResource<SignalStream>({
  member: 'signalStream',
  words: 'stream of shared signals',
  ref: defineObjectType<SignalStream>(SignalStreamShape, {
    ...withScope('clients:read', 'A stream of shared signals to a client (OpenID SSF 1.0).'),
    interfaces: [Node],
  }),
  scope: 'clients:read',
  shape: SignalStreamShape,
  toCursor: ({ tenant }, { id }) => encodeIdCursor(toStreamListName(tenant), id),
})

registerNode('stream', {
  ref: SIGNAL_STREAM.ref,
  scope: SIGNAL_STREAM.scope,
  load: (id, { loaders }) => loaders.over(findStreams).load(id),
})

const PATH = '/signal-streams/:signalStreamId'

export const signalStreamOperations: readonly RestRoute[] = [
  ...defineList({
    name: 'listSignalStreams',
    summary: 'The streams of shared signals of the tenant, oldest first. Clients create them.',
    resource: SIGNAL_STREAM,
    path: '/signal-streams',
    run: listSignalStreams,
  }),
  ...defineLookup({
    name: 'getSignalStream',
    field: 'signalStream',
    summary: 'A stream of shared signals.',
    resource: SIGNAL_STREAM,
    target: 'signalStreamId',
    path: PATH,
    run: getSignalStream,
  }),
  ...defineMutation({
    name: 'updateSignalStream',
    summary:
      'Pauses, disables or enables a stream, about which its receiver gets an event, or changes whose events it has.',
    scope: 'clients:write',
    targets: ['signalStreamId'],
    input: SignalStreamPatch,
    errors: [NotFound],
    output: { signalStream: SIGNAL_STREAM },
    rest: { method: 'PATCH', path: PATH },
    run: async (ctx, { signalStreamId }, input) => ({
      signalStream: await updateSignalStream(ctx, signalStreamId, input),
    }),
  }),
  ...defineMutation({
    name: 'verifySignalStream',
    summary: 'Sends a verification event to a stream.',
    scope: 'clients:write',
    targets: ['signalStreamId'],
    input: SignalStreamVerification,
    isInputOptional: true,
    errors: [NotFound, Conflict, RateLimited],
    output: { signalStream: SIGNAL_STREAM },
    rest: { method: 'POST', path: `${PATH}/verify` },
    run: async (ctx, { signalStreamId }, input) => ({
      signalStream: await verifySignalStream(ctx, signalStreamId, input),
    }),
  }),
  ...defineMutation({
    name: 'deleteSignalStream',
    summary: 'Deletes a stream of shared signals, with the events that wait.',
    scope: 'clients:write',
    targets: ['signalStreamId'],
    errors: [NotFound],
    output: { deletedSignalStreamId: idShape.meta({ description: 'Id of the deleted stream.' }) },
    rest: { method: 'DELETE', path: PATH, message: 'The stream was deleted.' },
    run: (ctx, { signalStreamId }) => deleteSignalStream(ctx, signalStreamId),
  }),
]
