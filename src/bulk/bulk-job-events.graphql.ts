import { createKindType, EventGap, EventInterface, resolveEventType } from '../events/event-types.graphql.ts'
import { EventShape } from '../events/list.fields.ts'
import { getSubjectIds } from '../events/list.ts'
import type { LogEvent } from '../events/log.ts'
import { subscribeToLog } from '../events/log-subscription.graphql.ts'
import { AFTER_DESCRIPTION, toLogEvent } from '../events/subscriptions.graphql.ts'
import { type EventType, getView } from '../events/types.ts'
import { builder } from '../graphql/builder.ts'
import { withAnyScope, withScope } from '../graphql/field-access.ts'
import { requireNodeId } from '../graphql/node.graphql.ts'
import { buildObjectFields } from '../graphql/shape-fields.ts'
import { BULK_JOB } from './bulk-jobs.graphql.ts'
import { findBulkJobs } from './bulk-jobs.ts'

const BulkJobEventType = createKindType('BulkJobEventType', 'What happened to a bulk job.', 'BulkJobEvent')

/** The first subject is the job. */
const getJobId = ({ subjectIds }: LogEvent): string => subjectIds[0] ?? ''

const BulkJobEvent = builder.objectRef<LogEvent>('BulkJobEvent').implement({
  ...withAnyScope(['users:read', 'events:read'], 'A change of many users was started, went on or ended.'),
  interfaces: [EventInterface],
  fields: (t) => ({
    kind: t.field({
      type: BulkJobEventType,
      description: 'What happened to the job.',
      resolve: ({ type }) => type as EventType,
    }),
    bulkJobId: t.id({ description: 'Id of the job.', resolve: getJobId }),
    bulkJob: t.field({
      type: BULK_JOB.ref,
      nullable: true,
      description: 'The current job; null once deleted.',
      resolve: (event, _args, { loaders }) => loaders.over(findBulkJobs).load(getJobId(event)),
    }),
    subjectIds: t.idList({
      description: 'Ids of its subjects: the job, then the client whose access is revoked.',
      resolve: getSubjectIds,
    }),
    ...buildObjectFields(t as never, { detail: EventShape.shape.detail }),
  }),
})

const BulkJobChange = builder.unionType('BulkJobChange', {
  description: 'An event of a bulk job, or a gap.',
  types: [BulkJobEvent, EventGap],
  resolveType: resolveEventType,
})

builder.subscriptionField('bulkJobChanged', (t) =>
  t.field({
    ...withScope('users:read', 'Starts, progress and ends of bulk jobs.'),
    type: BulkJobChange,
    args: {
      bulkJobId: t.arg.id({ description: 'Only this job.' }),
      after: t.arg.string({ description: AFTER_DESCRIPTION }),
    },
    subscribe: (_root, { bulkJobId, after }, context) => {
      const wanted = bulkJobId && requireNodeId('bulkjob', bulkJobId, 'bulkJobId')
      return subscribeToLog(
        context,
        after,
        (event) => getView(event.type) === 'BulkJobEvent' && (!wanted || getJobId(event) === wanted),
      )
    },
    resolve: toLogEvent,
  }),
)
