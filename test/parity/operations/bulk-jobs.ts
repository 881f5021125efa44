import type { Call, Gql, Rest } from '../call.ts'
import { objectQuery, PAGE, pageQuery, readGone, readPage, select, unknownId } from '../queries.ts'

const bulkJob = objectQuery('bulkJob', 'BulkJob', 'ID')
const bulkJobs = pageQuery('bulkJobs', 'BulkJob', 'bulkJobs')
const ENUMS: Record<string, string> = {
  lock: 'LOCK',
  'add-roles': 'ADD_ROLES',
  'end-sessions': 'END_SESSIONS',
}
const toId = (which: string, bulkJobId: string): string =>
  which === 'present' ? bulkJobId : unknownId('bulkjob')

export const BULK_JOB_OPERATIONS: Record<string, Call[]> = {
  bulkUpdateUsers: [
    { action: 'lock' },
    { action: 'lock', userIds: [], roles: ['support'] },
    { action: 'lock', filter: { search: '!' } },
    { action: 'add-roles', userIds: [unknownId('user')], roles: ['support'] },
    { action: 'end-sessions', filter: { createdAt: { gte: '2020-01-01T00:00:00Z' } } },
  ].map((input) => ({
    title: JSON.stringify(input),
    rest: (): Rest => ['POST', '/bulk-jobs', input],
    gql: (): Gql => ({
      mutation: 'bulkUpdateUsers',
      input: {
        ...input,
        action: ENUMS[input.action],
        ...(input.roles && { roles: ['support'] }),
      },
      read: ({ bulkJob }) => bulkJob,
    }),
  })),
  revokeClientAccess: ['unknown', 'present'].map((which) => ({
    title: which,
    rest: ({ clientId }): Rest => [
      'DELETE',
      `/clients/${which === 'present' ? clientId : unknownId('client')}/access`,
    ],
    gql: ({ clientId }): Gql => ({
      mutation: 'revokeClientAccess',
      input: { clientId: which === 'present' ? clientId : unknownId('client') },
      read: readGone,
    }),
  })),
  listBulkJobs: [{}, { page: 1, pageSize: 1 }, { pageSize: 0 }].map((page) => ({
    title: JSON.stringify(page),
    rest: (): Rest => ['GET', `/bulk-jobs?${new URLSearchParams(page as Record<string, string>)}`],
    gql: (): Gql => bulkJobs(page),
  })),
  getBulkJob: ['unknown', 'present'].map((which) => ({
    title: which,
    rest: ({ bulkJobId }): Rest => ['GET', `/bulk-jobs/${toId(which, bulkJobId)}`],
    gql: ({ bulkJobId }): Gql => ({ ...bulkJob, variables: { id: toId(which, bulkJobId) } }),
  })),
  listBulkJobFailures: [
    {
      title: 'present',
      rest: ({ bulkJobId }): Rest => ['GET', `/bulk-jobs/${bulkJobId}/failures`],
      gql: ({ bulkJobId }): Gql => ({
        query: `query($id: ID!) { job: bulkJob(id: $id) { result: failures { ${PAGE} nodes ${select('BulkFailure')} } } }`,
        variables: { id: bulkJobId },
        read: ({ job }) => readPage('failures')({ result: { ...job.result, page: 0 } }),
      }),
    },
  ],
  cancelBulkJob: ['unknown', 'present', 'present'].map((which) => ({
    title: which,
    rest: ({ bulkJobId }): Rest => ['DELETE', `/bulk-jobs/${toId(which, bulkJobId)}`],
    gql: ({ bulkJobId }): Gql => ({
      mutation: 'cancelBulkJob',
      input: { bulkJobId: toId(which, bulkJobId) },
      read: readGone,
    }),
  })),
}
