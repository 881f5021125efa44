import type { Call, Gql, Rest } from '../call.ts'
import { objectQuery, pageQuery, readGone, unknownId } from '../queries.ts'

const stream = objectQuery('signalStream', 'SignalStream', 'ID')
const streams = pageQuery('signalStreams', 'SignalStream', 'signalStreams')
const toId = (which: string, id: string): string => (which === 'present' ? id : unknownId('stream'))

export const SIGNAL_STREAM_OPERATIONS: Record<string, Call[]> = {
  listSignalStreams: [{}, { pageSize: 0 }].map((page) => ({
    title: JSON.stringify(page),
    rest: (): Rest => ['GET', `/signal-streams?${new URLSearchParams(page as Record<string, string>)}`],
    gql: (): Gql => streams(page),
  })),
  getSignalStream: ['unknown', 'present'].map((which) => ({
    title: which,
    rest: ({ signalStreamId }): Rest => ['GET', `/signal-streams/${toId(which, signalStreamId)}`],
    gql: ({ signalStreamId }): Gql => ({ ...stream, variables: { id: toId(which, signalStreamId) } }),
  })),
  updateSignalStream: (
    [
      ['unknown', {}],
      ['present', { status: 'paused', statusReason: '' }],
      ['present', { status: 'paused', statusReason: 'Maintenance', allUsers: false }],
    ] as const
  ).map(([which, input]) => ({
    title: `${which} ${JSON.stringify(input)}`,
    rest: ({ signalStreamId }): Rest => ['PATCH', `/signal-streams/${toId(which, signalStreamId)}`, input],
    gql: ({ signalStreamId }): Gql => ({
      mutation: 'updateSignalStream',
      input: {
        signalStreamId: toId(which, signalStreamId),
        ...input,
        ...('status' in input && { status: input.status.toUpperCase() }),
      },
      read: ({ signalStream }) => signalStream,
    }),
  })),
  verifySignalStream: ['unknown', 'present'].map((which) => ({
    title: which,
    rest: ({ signalStreamId }): Rest => ['POST', `/signal-streams/${toId(which, signalStreamId)}/verify`],
    gql: ({ signalStreamId }): Gql => ({
      mutation: 'verifySignalStream',
      input: { signalStreamId: toId(which, signalStreamId) },
      read: ({ signalStream }) => signalStream,
    }),
  })),
  deleteSignalStream: ['unknown', 'present'].map((which) => ({
    title: which,
    rest: ({ signalStreamId }): Rest => ['DELETE', `/signal-streams/${toId(which, signalStreamId)}`],
    gql: ({ signalStreamId }): Gql => ({
      mutation: 'deleteSignalStream',
      input: { signalStreamId: toId(which, signalStreamId) },
      read: readGone,
    }),
  })),
}
