import { Conflict, NotFound, RateLimited } from '../core/errors.ts'
import { defineList, defineNestedList } from '../operations/list.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineLookup } from '../operations/query.ts'
import type { RestRoute } from '../rest/route.ts'
import { BulkUserUpdate } from './bulk-jobs.fields.ts'
import { BULK_JOB, FAILURE } from './bulk-jobs.graphql.ts'
import {
  bulkUpdateUsers,
  cancelBulkJob,
  getBulkJob,
  listBulkJobFailures,
  listBulkJobs,
  revokeClientAccess,
} from './bulk-jobs.ts'

export const bulkJobOperations: readonly RestRoute[] = [
  ...defineMutation({
    name: 'bulkUpdateUsers',
    summary:
      'Starts a change of up to 1000 users by their ids, or of all that match a filter. Each user is changed as by the single operation; the account of the caller is not.',
    scope: 'users:write',
    isCreation: true,
    input: BulkUserUpdate,
    errors: [NotFound, RateLimited],
    output: { bulkJob: BULK_JOB },
    rest: {
      method: 'POST',
      path: '/bulk-jobs',
      status: 201,
      location: ({ id }) => `/bulk-jobs/${id}`,
    },
    run: async (ctx, _ids, input) => ({ bulkJob: await bulkUpdateUsers(ctx, input) }),
  }),
  ...defineMutation({
    name: 'revokeClientAccess',
    summary:
      'Starts the end of all sessions of a client and the revocation of all its grants, user by user. Users stay signed in to the tenant.',
    scope: 'clients:write',
    targets: ['clientId'],
    errors: [NotFound, RateLimited],
    output: { bulkJob: BULK_JOB },
    rest: { method: 'DELETE', path: '/clients/:clientId/access' },
    run: async (ctx, { clientId }) => ({ bulkJob: await revokeClientAccess(ctx, clientId) }),
  }),
  ...defineList({
    name: 'listBulkJobs',
    summary: 'The bulk jobs of the last week, oldest first.',
    resource: BULK_JOB,
    path: '/bulk-jobs',
    run: listBulkJobs,
  }),
  ...defineLookup({
    name: 'getBulkJob',
    field: 'bulkJob',
    summary: 'A bulk job.',
    resource: BULK_JOB,
    target: 'bulkJobId',
    path: '/bulk-jobs/:bulkJobId',
    run: getBulkJob,
  }),
  ...defineNestedList({
    name: 'listBulkJobFailures',
    summary: 'The users whom a bulk job could not change, in order of id.',
    resource: FAILURE,
    target: 'bulkJobId',
    path: '/bulk-jobs/:bulkJobId/failures',
    run: listBulkJobFailures,
  }),
  ...defineMutation({
    name: 'cancelBulkJob',
    summary: 'Cancels a bulk job. Users that were changed by then stay so.',
    scope: 'users:write',
    targets: ['bulkJobId'],
    errors: [NotFound, Conflict],
    output: { bulkJob: BULK_JOB },
    rest: { method: 'DELETE', path: '/bulk-jobs/:bulkJobId' },
    run: async (ctx, { bulkJobId }) => ({ bulkJob: await cancelBulkJob(ctx, bulkJobId) }),
  }),
]
