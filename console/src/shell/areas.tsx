import { Link, type LinkProps, useLocation } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { CONSOLE_PATH } from '../config.ts'
import { t } from '../words/words.ts'
import type { Scope } from './viewer-scopes.ts'

/** A screen that the sidebar names, with the scope that its first list needs. */
type Area = { to: NonNullable<LinkProps['to']>; label: string; scope: Scope | null }
export type AreaGroup = { key: string; heading: string | null; areas: readonly Area[] }

const GROUPS: readonly AreaGroup[] = [
  { key: 'start', heading: null, areas: [{ to: '/', label: t('Start'), scope: null }] },
  {
    key: 'people',
    heading: t('People'),
    areas: [
      { to: '/users', label: t('Users'), scope: 'users:read' },
      { to: '/organizations', label: t('Organizations'), scope: 'organizations:read' },
      { to: '/invitations', label: t('Invitations'), scope: 'users:read' },
      { to: '/sessions', label: t('Sessions'), scope: 'sessions:read' },
    ],
  },
  {
    key: 'applications',
    heading: t('Applications and APIs'),
    areas: [
      { to: '/applications', label: t('Applications'), scope: 'clients:read' },
      { to: '/apis', label: t('APIs'), scope: 'roles:read' },
      { to: '/app-roles', label: t('Roles at APIs'), scope: 'roles:read' },
      { to: '/groups', label: t('Groups'), scope: 'roles:read' },
    ],
  },
  {
    key: 'activity',
    heading: t('Activity'),
    areas: [
      { to: '/log', label: t('Log'), scope: 'events:read' },
      { to: '/explain', label: t('Explain'), scope: 'users:read' },
      { to: '/webhooks', label: t('Webhooks'), scope: 'webhooks:read' },
      { to: '/signal-streams', label: t('Shared signals'), scope: 'clients:read' },
    ],
  },
  {
    key: 'pages',
    heading: t('Sign-in pages'),
    areas: [
      { to: '/sign-in', label: t('Sign-in'), scope: 'tenant:read' },
      { to: '/providers', label: t('Providers'), scope: 'idps:read' },
      { to: '/brand', label: t('Texts and brand'), scope: 'tenant:read' },
    ],
  },
  {
    key: 'management',
    heading: t('Management'),
    areas: [
      { to: '/settings', label: t('Tenant'), scope: 'tenant:read' },
      { to: '/roles', label: t('Roles'), scope: 'users:read' },
      { to: '/keys', label: t('Keys'), scope: 'tenant:read' },
      { to: '/api-keys', label: t('API keys'), scope: 'api_keys:read' },
      { to: '/tenants', label: t('Tenants'), scope: 'tenants:read' },
      { to: '/api', label: 'API', scope: null },
    ],
  },
]

/** The groups with what the scopes permit. */
export const permitAreas = (scopes: ReadonlySet<Scope>): AreaGroup[] =>
  GROUPS.map((group) => ({
    ...group,
    areas: group.areas.filter(({ scope }) => scope === null || scopes.has(scope)),
  })).filter(({ areas }) => areas.length > 0)

const STORED = 'console.closed-areas'
const readClosed = (): string[] => localStorage.getItem(STORED)?.split(' ') ?? []

/** Whether a path of the console is in a group: at one of its screens, or below. */
const isWithin = (path: string, { areas }: AreaGroup): boolean =>
  areas.some(({ to }) => path === to || path.startsWith(`${to}/`))

/** The screens by groups, which this browser keeps open or closed. The group of the present screen opens as one arrives. */
export function Areas({ groups }: { groups: readonly AreaGroup[] }) {
  const [closed, setClosed] = useState(readClosed)
  const path = useLocation({ select: ({ pathname }) => pathname.slice(CONSOLE_PATH.length) || '/' })
  const current = groups.find((group) => isWithin(path, group))?.key
  const set = (key: string, isOpen: boolean) =>
    setClosed((former) => {
      const next = former.filter((other) => other !== key)
      if (!isOpen) next.push(key)
      localStorage.setItem(STORED, next.join(' '))
      return next
    })
  // biome-ignore lint/correctness/useExhaustiveDependencies: one may close the group of the present screen
  useEffect(() => {
    if (current && closed.includes(current)) set(current, true)
  }, [path])
  return groups.map(({ key, heading, areas }) => {
    const list = (
      <ul aria-label={heading ?? undefined}>
        {areas.map(({ to, label }) => (
          <li key={to}>
            <Link to={to} activeOptions={{ exact: to === '/' }}>
              {label}
            </Link>
          </li>
        ))}
      </ul>
    )
    if (!heading) return <div key={key}>{list}</div>
    return (
      <details
        key={key}
        open={!closed.includes(key)}
        onToggle={({ currentTarget: { open } }) => open === closed.includes(key) && set(key, open)}
      >
        <summary>{heading}</summary>
        {list}
      </details>
    )
  })
}
