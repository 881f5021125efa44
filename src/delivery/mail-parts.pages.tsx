import type { ComponentChildren, VNode } from 'preact'
import type { MailPart } from './mail-content.ts'
import type { InlineStyles } from './mail-style.ts'

/** A table for the layout only, because mail programs know few other layouts. */
export const LayoutTable = ({
  children,
  ...attributes
}: {
  class?: string
  width?: '100%'
  lang?: string
  dir?: 'ltr' | 'rtl'
  style?: string
  children: ComponentChildren
}): VNode => (
  <table role="presentation" cellPadding="0" cellSpacing="0" {...attributes}>
    {children}
  </table>
)

type LinkPart = Extract<MailPart, { kind: 'link' }>
type FactsPart = Extract<MailPart, { kind: 'facts' }>

/** A button, which mail programs draw as a table cell, and its URL for those that show no button. */
const LinkPartView = ({ part, styles }: { part: LinkPart; styles: InlineStyles }): VNode => (
  <>
    <LayoutTable>
      <tr>
        <td class="fill" style={styles.button}>
          <a href={part.href} class="on-fill" style={styles.buttonLink}>
            {part.text}
          </a>
        </td>
      </tr>
    </LayoutTable>
    <p class="muted" style={styles.hint}>
      {part.hint}
      <br />
      <a href={part.href} class="link" dir="ltr" style={styles.url}>
        {part.href}
      </a>
    </p>
  </>
)

/** A value may start with a name of the other direction, which would turn its order. Names are isolated already. */
const FactsPartView = ({ part, styles }: { part: FactsPart; styles: InlineStyles }): VNode => (
  <table cellPadding="0" cellSpacing="0" style={styles.facts}>
    {part.facts.map(([label, value]) => (
      <tr key={label}>
        <th scope="row" class="muted" style={styles.label}>
          {label}
        </th>
        <td class="text" style={styles.value}>
          <bdi dir={styles.direction === 'rtl' ? 'rtl' : undefined}>{value}</bdi>
        </td>
      </tr>
    ))}
  </table>
)

/** A part of a mail. */
export function MailPartView({ part, styles }: { part: MailPart; styles: InlineStyles }): VNode {
  switch (part.kind) {
    case 'link':
      return <LinkPartView part={part} styles={styles} />
    case 'facts':
      return <FactsPartView part={part} styles={styles} />
    case 'code':
      return (
        <p class="code" dir="ltr" style={styles.code(part.text)}>
          {part.text}
        </p>
      )
    case 'aside':
      return (
        <p class="aside muted" style={styles.aside}>
          {part.text}
        </p>
      )
    case 'text':
      return (
        <p class="text" style={styles.text}>
          {part.text}
        </p>
      )
  }
}
