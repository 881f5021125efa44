import { withScope } from '../graphql/field-access.ts'
import { Node, registerNode } from '../graphql/node.graphql.ts'
import { defineObjectType } from '../graphql/shape-fields.ts'
import { defineResource } from '../operations/resource.ts'
import { encodeIdCursor } from '../schema/page.ts'
import { SignalStreamShape } from './streams.fields.ts'
import { findStreams, type SignalStream, toStreamListName } from './streams.ts'

export const SIGNAL_STREAM = defineResource<SignalStream>({
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
