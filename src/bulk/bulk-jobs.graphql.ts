import { CURSOR_ARGS, connectionField } from '../graphql/connection.ts'
import { withScope } from '../graphql/field-access.ts'
import { Node, registerNode } from '../graphql/node.graphql.ts'
import { UserRef } from '../graphql/object-refs.ts'
import { defineObjectType } from '../graphql/shape-fields.ts'
import { defineResource } from '../operations/resource.ts'
import { encodeIdCursor } from '../schema/page.ts'
import { BulkFailureShape, BulkJobShape } from './bulk-jobs.fields.ts'
import {
  type BulkFailure,
  type BulkJob,
  findBulkJobs,
  listBulkJobFailures,
  toBulkJobListName,
} from './bulk-jobs.ts'

export const FAILURE = defineResource<BulkFailure>({
  member: 'failure',
  ref: defineObjectType<BulkFailure>(
    BulkFailureShape,
    withScope('users:read', 'A user whom a bulk job could not change, and why.'),
    (t) => ({
      user: t.field({
        type: UserRef,
        nullable: true,
        description: 'The user; null for one who does not exist.',
        resolve: ({ userId }, _args, { loaders }) => loaders.user.load(userId),
      }),
    }),
  ),
  scope: 'users:read',
  shape: BulkFailureShape,
})

export const BULK_JOB = defineResource<BulkJob>({
  member: 'bulkJob',
  ref: defineObjectType<BulkJob>(
    BulkJobShape,
    {
      ...withScope('users:read', 'A change of many users that is made in the background.'),
      interfaces: [Node],
    },
    (t) => ({
      failures: t.field({
        ...connectionField(FAILURE.getConnection() as never),
        description: 'The users whom it could not change, in order of id.',
        args: CURSOR_ARGS,
        resolve: ({ id }, args, { ctx }) => listBulkJobFailures(ctx, id, args) as never,
      }),
    }),
  ),
  scope: 'users:read',
  shape: BulkJobShape,
  toCursor: ({ tenant }, { id }) => encodeIdCursor(toBulkJobListName(tenant), id),
})

registerNode('bulkjob', {
  ref: BULK_JOB.ref,
  scope: BULK_JOB.scope,
  load: (id, { loaders }) => loaders.over(findBulkJobs).load(id),
})
