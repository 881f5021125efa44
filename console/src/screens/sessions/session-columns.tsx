import { Link } from '@tanstack/react-router'
import { graphql, useFragment } from 'react-relay/hooks'
import type {
  sessionColumns_session$data,
  sessionColumns_session$key,
} from '../../generated/sessionColumns_session.graphql.ts'
import type { Column } from '../../parts/big-list.tsx'
import { Time } from '../../parts/time.tsx'
import { describeBrowser } from '../../parts/user-agent.ts'
import { t } from '../../words/words.ts'

/** The fields of the columns, as they change. */
export const useSession = (key: sessionColumns_session$key): sessionColumns_session$data =>
  useFragment(
    graphql`
      fragment sessionColumns_session on Session {
        id
        isEnded
        expiresAt
        userAgent
        lastSeenIp
        lastSeenLocation
        lastSeenAt
        createdAt
        user {
          id
          name
          email
        }
        client {
          id
          name
        }
      }
    `,
    key,
  )

export const SESSION_COLUMNS: readonly Column<sessionColumns_session$data>[] = [
  {
    name: 'user',
    label: t('User'),
    width: 170,
    grow: 2,
    render: ({ user, isEnded }) => (
      <>
        {user && (
          <Link to="/users/$userId" params={{ userId: user.id }} className="row-link" tabIndex={-1}>
            <span className="truncated">{user.name ?? user.email ?? user.id}</span>
          </Link>
        )}
        {isEnded && <span className="badge ended">{t('Ended')}</span>}
      </>
    ),
  },
  {
    name: 'device',
    label: t('Device'),
    width: 150,
    grow: 1.5,
    phone: 'second',
    render: ({ userAgent }) => <span className="truncated">{describeBrowser(userAgent)}</span>,
  },
  {
    name: 'where',
    label: t('Where'),
    width: 170,
    grow: 2,
    render: ({ lastSeenLocation, lastSeenIp }) => (
      <span className="truncated">{[lastSeenLocation, lastSeenIp].filter(Boolean).join(' · ')}</span>
    ),
  },
  {
    name: 'client',
    label: t('Application'),
    width: 130,
    grow: 1,
    render: ({ client }) => <span className="truncated">{client?.name}</span>,
  },
  {
    name: 'lastSeen',
    sort: 'descending',
    label: t('Last seen'),
    width: 110,
    grow: 1,
    phone: 'end',
    render: ({ lastSeenAt }) => <Time at={lastSeenAt} />,
  },
  {
    name: 'created',
    sort: 'descending',
    label: t('Started'),
    width: 110,
    grow: 1,
    render: ({ createdAt }) => <Time at={createdAt} />,
  },
  {
    name: 'expires',
    label: t('Expires'),
    width: 110,
    grow: 1,
    isOptional: true,
    render: ({ expiresAt }) => <Time at={expiresAt} />,
  },
  {
    name: 'id',
    label: t('Id'),
    width: 280,
    grow: 1,
    isOptional: true,
    render: ({ id }) => <code className="truncated">{id}</code>,
  },
]
