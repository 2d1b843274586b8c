// Calm colours for the editors, in place of GraphiQL's pink. Monaco takes them by name.

import { pick, useGraphiQL, useMonaco } from '@graphiql/react';
import { useEffect } from 'react';

export const editorTheme = { light: 'bankgraph-light', dark: 'bankgraph-dark' };

const palette = {
  light: { base: 'vs', accent: '#1c5d92', soft: '#1c5d9214', pane: '#ffffff', key: '#14324f', text: '#0b6b57', number: '#8a4b08', word: '#1c5d92', type: '#6a3d9a', note: '#75828f' },
  dark: { base: 'vs-dark', accent: '#7db7e8', soft: '#7db7e81f', pane: '#1b2733', key: '#c9d9e8', text: '#7cc4b2', number: '#e3b47c', word: '#7db7e8', type: '#c3a6ea', note: '#8593a1' },
} as const;

/** Stands inside GraphiQL, whose store holds the chosen theme and the editors. Shows nothing. */
export function EditorTheme(): null {
  const monaco = useMonaco((state) => state.monaco);
  const { monacoTheme, queryEditor, variableEditor, headerEditor, responseEditor } = useGraphiQL(
    pick('monacoTheme', 'queryEditor', 'variableEditor', 'headerEditor', 'responseEditor'),
  );

  useEffect(() => {
    for (const editor of [queryEditor, variableEditor, headerEditor, responseEditor]) {
      editor?.updateOptions({ fontSize: 13.5, lineHeight: 20, lineNumbersMinChars: 3, guides: { indentation: false } });
    }
  }, [queryEditor, variableEditor, headerEditor, responseEditor]);

  // GraphiQL names the theme before Monaco is there, so it is set again once defined.
  useEffect(() => {
    if (!monaco) return;
    for (const scheme of ['light', 'dark'] as const) {
      const c = palette[scheme];
      const bare = (colour: string) => colour.slice(1);
      monaco.editor.defineTheme(editorTheme[scheme], {
        base: c.base,
        inherit: true,
        rules: [
          { token: 'comment.gql', foreground: bare(c.note) },
          { token: 'keyword.gql', foreground: bare(c.word) },
          { token: 'key.identifier.gql', foreground: bare(c.key) },
          { token: 'argument.identifier.gql', foreground: bare(c.number) },
          { token: 'type.identifier.gql', foreground: bare(c.type) },
          { token: 'variable', foreground: bare(c.text) },
          { token: 'string.gql', foreground: bare(c.text) },
          { token: 'number.gql', foreground: bare(c.number) },
          { token: 'string.key.json', foreground: bare(c.key) },
          { token: 'string.value.json', foreground: bare(c.text) },
          { token: 'number.json', foreground: bare(c.number) },
          { token: 'keyword.json', foreground: bare(c.type) },
        ],
        colors: {
          'editor.background': '#ffffff00',
          'scrollbar.shadow': '#ffffff00',
          'editorLineNumber.foreground': c.note,
          'textLink.foreground': c.accent,
          'textLink.activeForeground': c.accent,
          'editorLink.activeForeground': c.accent,
          'editorHoverWidget.background': c.pane,
          'editorWidget.background': c.pane,
          'editorSuggestWidget.background': c.pane,
          'editorSuggestWidget.selectedBackground': c.soft,
          'editorSuggestWidget.selectedForeground': c.accent,
          'list.hoverBackground': c.soft,
          'list.highlightForeground': c.accent,
          'list.focusHighlightForeground': c.accent,
          'menu.background': c.pane,
          'menu.selectionBackground': c.soft,
          'menu.selectionForeground': c.accent,
          'quickInput.background': c.pane,
          'quickInputList.focusBackground': c.soft,
          'input.background': c.soft,
          focusBorder: c.accent,
        },
      });
    }
    if (monacoTheme) monaco.editor.setTheme(monacoTheme);
  }, [monaco, monacoTheme]);
  return null;
}
