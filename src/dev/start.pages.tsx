import type { VNode } from 'preact'
import { toSafeLink } from '../core/network/safe-link.ts'
import { BidiText, PageShell } from '../pages/page-shell.pages.tsx'
import type { StartUrl } from './start-urls.ts'

/** What a development server has: the first page that somebody opens. */
export const StartPage = ({ urls }: { urls: readonly StartUrl[] }): VNode => (
  <PageShell
    title="Vestibule is running"
    lead="This is a development server. Continue with one of these."
    wide
  >
    {/* biome-ignore lint/a11y/noRedundantRoles: VoiceOver takes a list without bullets for no list. */}
    <ul class="messages" role="list">
      {urls.map(({ label, url, description }) => (
        <li class="message" key={label}>
          <h2>
            <a href={toSafeLink(url) ?? undefined}>{label}</a>
          </h2>
          <p>{description}</p>
          <p class="hint">
            <BidiText>{url}</BidiText>
          </p>
        </li>
      ))}
    </ul>
  </PageShell>
)
