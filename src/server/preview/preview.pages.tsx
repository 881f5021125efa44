import type { VNode } from 'preact'
import { PageShell, type PageTenant } from '../../pages/page-shell.pages.tsx'

const SCHEMES = ['light', 'dark'] as const

/** "wrong-code" as "Wrong code". */
const toTitle = (name: string): string => {
  const words = name.replaceAll('-', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

type SampleProps = { path: string; name: string; label: string }

/** A sample in both schemes. The frames run no script, and their forms are not sent. */
const Sample = ({ path, name, label }: SampleProps): VNode => (
  <section class="samples">
    <h3>{toTitle(name)}</h3>
    {SCHEMES.map((scheme) => (
      <iframe
        key={scheme}
        class={`sample ${scheme}`}
        src={`${path}/${name}`}
        sandbox=""
        loading="lazy"
        title={`${label} ${toTitle(name)}, ${scheme}`}
      />
    ))}
  </section>
)

type PreviewPageProps = { tenant: PageTenant; path: string; pages: string[]; mails: string[] }

/** The hosted pages and the mails of the tenant with sample data, in light and dark. */
export const PreviewPage = ({ tenant, path, pages, mails }: PreviewPageProps): VNode => (
  <PageShell
    title="Brand preview"
    lead="Hosted pages and mails with sample data, on light and dark screens. Buttons do nothing."
    tenant={tenant}
    wide
  >
    <h2>Pages</h2>
    {pages.map((name) => (
      <Sample key={name} path={`${path}/page`} name={name} label="Page" />
    ))}
    <h2>Mails</h2>
    {mails.map((name) => (
      <Sample key={name} path={`${path}/mail`} name={name} label="Mail" />
    ))}
  </PageShell>
)
