import { FONT_STACKS } from '../../model/brand.ts'
import { DEFAULT_THEME, PALETTE } from '../../model/palette.ts'
import { buildShapeVariables, buildThemeCss, toCssDeclarations } from './theme.ts'

/** Uses logical properties, so that right-to-left languages need no second stylesheet. */
export const PAGES_CSS = `
:root{color-scheme:light dark;${toCssDeclarations({ ...PALETTE.light, ...buildShapeVariables({}), mono: FONT_STACKS.monospace })}}
@media(prefers-color-scheme:dark){:root{${toCssDeclarations(PALETTE.dark)}}}
${buildThemeCss({ themeColor: DEFAULT_THEME })}

*,::before,::after{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{
  margin:0;background:var(--surface);color:var(--text);
  font:1rem/1.5 var(--font);
  overflow-wrap:anywhere;word-break:auto-phrase;
}
h1,h2,p,ul,dl,dd{margin:0}
h1{font-size:1.625rem;line-height:1.25;font-weight:650;letter-spacing:-.015em;text-wrap:balance}
h2{font-size:1rem}
code,pre{font-family:var(--mono)}
p{text-wrap:pretty}

.page,.card,.heading,.stack,.choice,.field,.alternatives,.person-text,.accounts,.asks,.messages,.message,.section{display:flex;flex-direction:column}
.tenant,.language,.check,.person,.account,.support,.row,.signed-in,.accounts li{display:flex;align-items:center}
.support,.row,.signed-in,.accounts li,.search{flex-wrap:wrap}

.page{
  min-block-size:100vh;min-block-size:100dvh;gap:2rem;
  max-inline-size:30rem;margin-inline:auto;padding:1.5rem;
}
.wide{max-inline-size:48rem}
.tenant{gap:.625rem;font-weight:600}
.tenant-logo{inline-size:2rem;block-size:2rem;object-fit:contain;flex:none}
.card{flex:1;gap:1.75rem}
.support{
  gap:0 1.25rem;padding-block-start:1rem;
  border-block-start:1px solid var(--line);font-size:.9375rem;
}
.support a{display:inline-flex;align-items:center;min-block-size:2.75rem}
.language select{inline-size:auto;min-block-size:2.75rem;padding-block:.25rem}

.heading{gap:.5rem}
.lead{color:var(--muted);font-size:1.0625rem}
.lead .given,.lead strong{color:var(--text);font-weight:600}
.hint{color:var(--muted);font-size:.875rem}
.mark,.person-mark,.provider-mark{display:grid;place-items:center;flex:none}
.mark{
  inline-size:3.5rem;block-size:3.5rem;border-radius:calc(var(--radius)*1.6);
  background:var(--accent);color:var(--on-accent);border:1px solid var(--accent-edge);
  font-size:1.5rem;font-weight:650;object-fit:contain;margin-block-end:.75rem;
}
img.mark{background:none;border:0}
.mark:is(.bad,.neutral,.good){border-color:transparent}
.mark.bad{background:var(--danger-surface);color:var(--danger)}
.mark.neutral{background:var(--raised);color:var(--muted)}
.mark.good{background:var(--success-surface);color:var(--success)}

.stack{gap:1.25rem}
.choice{gap:.75rem}
.field{gap:.5rem}
fieldset{margin:0 0 .75rem;padding:0;border:0}
legend{padding:0 0 .75rem;font-size:1.125rem}
h2,legend,label{font-weight:600}
input,select{
  inline-size:100%;min-block-size:3rem;padding:.625rem .875rem;border:1px solid var(--control);border-radius:var(--radius);
  background:var(--surface);color:inherit;font:inherit;
}
input[aria-invalid],select[aria-invalid]{border-color:var(--danger);box-shadow:inset 0 0 0 1px var(--danger)}
.check{gap:.25rem;margin-inline-start:-.625rem}
.check input{display:grid;place-items:center;flex:none;inline-size:2.75rem;min-block-size:2.75rem;padding:0;border:0;background:none;box-shadow:none;appearance:none}
.check input::before{
  content:"";inline-size:1.5rem;block-size:1.5rem;border:1px solid var(--control);border-radius:calc(var(--radius)*.6);
  background:var(--surface);color:var(--on-accent);font-weight:700;line-height:1.5;text-align:center;
}
.check input:checked::before{content:"✓";background:var(--accent);border-color:var(--accent-edge)}
.check input[aria-invalid]::before{border-color:var(--danger)}
.code-input{
  min-block-size:3.75rem;font:600 1.625rem/1 var(--mono);
  font-variant-numeric:tabular-nums;letter-spacing:.35em;text-align:center;padding-inline:1.2em .85em;
}
.letters{text-transform:uppercase;letter-spacing:.15em;padding-inline:.875rem}
.user-code{
  text-align:center;user-select:all;
  font:600 1.625rem/1.4 var(--mono);letter-spacing:.1em;
}
.error{
  display:flex;gap:.5rem;padding:.625rem .875rem;border-radius:var(--radius);
  background:var(--danger-surface);color:var(--danger);font-size:.9375rem;font-weight:500;
}

[role=alert]:empty{display:none}

button,.button{
  display:inline-flex;align-items:center;justify-content:center;min-block-size:3rem;padding:.625rem 1.25rem;
  border:1px solid transparent;border-radius:var(--radius);font:inherit;font-weight:600;text-align:center;text-decoration:none;
  cursor:pointer;
}
button:disabled{opacity:.55;cursor:default;text-decoration:none}
.primary{background:var(--accent);color:var(--on-accent);border-color:var(--accent-edge)}
.primary:hover{filter:brightness(1.06)}
.primary:active{filter:brightness(.94)}
.secondary{background:var(--surface);color:var(--text);border-color:var(--control)}
.secondary:hover{background:var(--raised)}
.quiet{min-block-size:2.75rem;padding:.5rem .75rem;background:none;color:var(--accent-text);font-weight:600}
.quiet:hover,a:hover{text-decoration:underline;text-underline-offset:.2em}
a{color:var(--accent-text)}
a.primary{color:var(--on-accent)}
a.secondary{color:var(--text)}
:focus-visible{outline:3px solid var(--accent-text);outline-offset:2px}
input:focus-visible{outline-offset:-1px}
input[aria-invalid]:focus-visible{outline-color:var(--danger)}

.pending .quiet{margin-inline-start:-.75rem}
.provider{gap:.75rem}
.provider-mark{
  inline-size:1.25rem;block-size:1.25rem;border-radius:.25rem;
  background:var(--raised);border:1px solid var(--line);font-size:.75rem;
}
.provider svg{flex:none}

.alternatives{align-items:flex-start;gap:.25rem;margin-inline:-.75rem}
.alternatives .hint{padding-inline:.75rem}
.alternatives a{padding:.5rem .75rem;font-weight:600}
.alternatives a:not(:hover){text-decoration:none}

.person{gap:.75rem;flex:1 1 auto;min-inline-size:0}
.person-mark{
  inline-size:2.5rem;block-size:2.5rem;border-radius:50%;
  background:var(--surface);border:1px solid var(--line);font-weight:600;
}
.person-text{min-inline-size:0;line-height:1.35}
.person-name{font-weight:600}
.messages,.accounts,.asks{padding:0;list-style:none}
.accounts{border-block:1px solid var(--line)}
.accounts li{justify-content:flex-end;gap:0 .25rem}
.accounts li+li{border-block-start:1px solid var(--line)}
.accounts li>:first-child{flex:1 1 13.5rem;min-inline-size:0}
.account{
  justify-content:flex-start;gap:.75rem;inline-size:100%;padding:.75rem .5rem;
  background:none;color:var(--text);font-weight:400;text-align:start;
}
button.account:hover{background:var(--raised)}
.asks{margin-block-start:.25rem}
.asks li{position:relative;padding-block:.75rem;padding-inline-start:2rem;border-block-end:1px solid var(--line)}
.asks li:last-child{border-block-end:0}
.asks li::before{
  content:"";position:absolute;inset-block-start:1.3rem;inset-inline-start:.5rem;inline-size:.4rem;block-size:.4rem;
  border-radius:50%;background:currentColor;forced-color-adjust:none;
}
.asks.sensitive li::before{
  content:"!";inset-block-start:.9rem;inset-inline-start:0;inline-size:1.25rem;block-size:1.25rem;display:grid;place-items:center;
  background:var(--danger-surface);color:var(--danger);font-size:.8125rem;font-weight:700;
}
.qr{display:block;margin-inline:auto;border-radius:var(--radius);background:#fff}
.key{user-select:all}
.reference,.recovery-codes,.pending,.signed-in,.user-code,.message pre,.block{padding:.75rem .875rem;border-radius:var(--radius);background:var(--raised)}
.columns,.recovery-codes{display:grid;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr));gap:1rem}
.recovery-codes{row-gap:.375rem;list-style:none;user-select:all}
.reference dt{color:var(--muted);font-size:.8125rem}
.reference dd{font-size:.9375rem}
.reference dd+dt{margin-block-start:.5rem}
.reference code{font-size:.9375rem;user-select:all}

.row,.signed-in{gap:.5rem .75rem}
.row.between,.signed-in{justify-content:space-between}
.search{display:flex;gap:.75rem;align-items:end}
.search .field{flex:1 1 14rem}
.messages{gap:1rem}
.message,.section,.sample,.mail{border:1px solid var(--line);border-radius:calc(var(--radius)*1.2)}
.message,.section{gap:.75rem;padding:1rem 1.125rem}
.section{gap:.125rem;color:var(--text);text-decoration:none}
.section:hover{background:var(--raised)}
.section .person-name::after{content:" →";color:var(--muted)}
[dir=rtl] .section .person-name::after{content:" ←"}
.tag{padding:.0625rem .5rem;border-radius:1rem;background:var(--raised);color:var(--muted);font-size:.8125rem;font-weight:600}
.message-code{font-size:2rem;line-height:1.2;font-weight:650;letter-spacing:.14em;user-select:all}
.message pre,.block{margin:0;font-size:.875rem;white-space:pre-wrap}
.samples{display:grid;grid-template-columns:repeat(auto-fit,minmax(17rem,1fr));gap:.75rem}
.samples h3{grid-column:1/-1;margin:0;font-size:1rem}
.sample,.mail{inline-size:100%;block-size:36rem}
.sample.light{color-scheme:light}
.sample.dark{color-scheme:dark}
.mail{block-size:42rem;color-scheme:light dark}
.claims{display:grid;grid-template-columns:minmax(6rem,max-content) 1fr;gap:.25rem 1rem;font-size:.9375rem}
.claims dt{color:var(--muted)}

@media(min-width:36rem){
  body{background:var(--page)}
  .page{justify-content:center;gap:1.5rem;padding-block:3rem}
  .wide{justify-content:flex-start}
  .tenant{justify-content:center}
  .card{
    flex:none;padding:2.5rem;border:1px solid var(--line);border-radius:min(calc(var(--radius)*2),2rem);background:var(--surface);
    box-shadow:0 1px 2px rgb(0 0 0/.04),0 12px 32px -12px rgb(0 0 0/.12);
  }
  .support{padding:0;border:0;justify-content:center}
}
@media(prefers-reduced-motion:no-preference){@view-transition{navigation:auto}button,.button{transition:filter .12s,background-color .12s}}
@media print{.support,button,.button{display:none}}
@media(forced-colors:active){.mark,.person-mark,.error,.tag{border:1px solid}}
`
  .replace(/\s*\n\s*/g, '')
  .replaceAll(';}', '}')
  .replaceAll(', ', ',')
