// The source as SIP shows it: on the left the files and the data objects, on the right the text of
// one file, with the figures of each statement beside its last line. What is behind a statement is
// shown below it.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

import { spotName } from "./data_part";
import { fileName, percent } from "./format";
import { go, tweak, type Route } from "./route";
import { Table, type ColumnOf } from "./table";
import type { Data, Index, Locality, Source } from "./types";
import { useDocument, Waiting } from "./use_document";

type Statement = Locality.LocalityDocument["rows"][number];
interface File { number: number; name: string; cost: number; statements: Map<number, number> }  // rows, by last line
const LISTED = 10;  // of files and of objects
interface Line<Row> { line: number; text: string; row: Row | null; isIn: boolean }

/// In the order in which `source/N` numbers them: by their first rows.
function listFiles(rows: Statement[]): File[] {
  const files = new Map<string, File>();
  rows.forEach((row, at) => {
    if (!row.file || !row.line) return;
    const file = files.get(row.file) ?? { number: files.size, name: row.file, cost: 0, statements: new Map() };
    files.set(row.file, file);
    file.cost += row.use.cost.value;
    const last = row.last_line ?? row.line;
    if (!file.statements.has(last)) file.statements.set(last, at);  // of another module's: the one with most
  });
  return [...files.values()];
}

/// Those with most, and the one that is shown.
function Files({ files, shown, total }: { files: File[]; shown: File; total: number }): JSX.Element {
  const byCost = [...files].sort((a, b) => b.cost - a.cost);
  const listed = byCost.filter((one, rank) => rank < LISTED || one === shown);
  return (
    <table class="plain"><caption>source files</caption><tbody>{listed.map((one) => (
      <tr><td class="number">{percent(one.cost / total, 0)}</td>
        <td><button type="button" class="link" title={one.name} aria-current={one === shown} onClick={() => tweak({ file: String(one.number) })}>{fileName(one.name)}</button></td></tr>
    ))}</tbody></table>
  );
}

function Objects({ profile }: { profile: number }): JSX.Element {
  const data = useDocument<Data.DataDocument>(profile, "data");
  return <Waiting loaded={data}>{(document) => (
    <table class="plain"><caption>data objects</caption><tbody>{document.rows.slice(0, LISTED).map((row, at) => (
      <tr><td class="number">{percent(row.use.cost.value / (document.measured_cycles ?? document.totals.cost.value), 0)}</td>
        <td><button type="button" class="link" title={row.place} onClick={() => go({ profile, screen: "data", query: new URLSearchParams({ row: String(at) }) })}>{row.name || "[unknown]"}</button></td></tr>
    ))}</tbody></table>
  )}</Waiting>;
}

function Text<Row extends { use: Locality.Use }>({ source, file, rows, columns, chosen, total }: {
  source: Source.SourceDocument; file: File; rows: Row[]; columns: ColumnOf<Row>[]; chosen: Statement | undefined; total: number;
}): JSX.Element {
  const isChosen = chosen?.file === file.name;
  const lines = useMemo(() => {
    const texts = new Map(source.line.map((line, at) => [line, source.text[at]]));
    // A statement is shown though nobody has its text.
    for (const last of file.statements.keys()) if (!texts.has(last)) texts.set(last, "");
    return [...texts.keys()].sort((a, b) => a - b).map((line): Line<Row> => {
      const at = file.statements.get(line);
      const isIn = isChosen && chosen!.line! <= line && line <= (chosen!.last_line ?? chosen!.line!);
      return { line, text: texts.get(line)!, row: at === undefined ? null : rows[at], isIn };
    });
  }, [source, file, rows, chosen]);
  const beside = columns.map((one): ColumnOf<Line<Row>> => ({
    ...one, rank: undefined, value: (line) => line.row && one.value(line.row), share: one.share && ((line) => line.row ? one.share!(line.row) : 0),
    draw: (line) => line.row ? one.draw!(line.row) : "",
  }));
  const isHot = (line: Line<Row>) => line.row !== null && line.row.use.cost.value > 0.05 * total;
  return (
    <Table label="source" rows={lines} keyOf={(line) => String(line.line)} sort="" isSorted
           columns={[...beside, { key: "line", title: "line", width: 50, value: (line) => line.line },
                     { key: "text", title: "source", isText: true, value: (line) => line.text, draw: (line) => <code>{line.text}</code> }]}
           selected={isChosen ? String(chosen!.last_line ?? chosen!.line) : null}
           scrollTo={isChosen ? lines.findIndex((line) => line.line === (chosen!.last_line ?? chosen!.line)) : null}
           onSelect={(line) => { const at = file.statements.get(line.line); if (at !== undefined) tweak({ row: String(at), file: String(file.number) }); }}
           classOf={(line) => [isHot(line) ? "level" : "", line.isIn ? "linked" : ""].join(" ")} empty="no text of this file is in the profile" />
  );
}

/// `rows`: those of the document, in its order, with what `columns` show of them.
export function LocalitySource<Row extends { use: Locality.Use }>({ document, rows, columns, index, route, total }: {
  document: Locality.LocalityDocument; rows: Row[]; columns: ColumnOf<Row>[]; index: Index.IndexDocument; route: Route; total: number;
}): JSX.Element {
  const files = useMemo(() => listFiles(document.rows), [document]);
  const chosen = document.rows[Number(route.query.get("row") ?? 0)];
  const number = Number(route.query.get("file") ?? files.find((one) => one.name === chosen?.file)?.number ?? 0);
  const file = files[number];
  const source = useDocument<Source.SourceDocument>(route.profile, `source/${number}`, file !== undefined);
  if (!file) return <p class="missing">no statement has a line of source: does the program have debug information (-g)?</p>;
  return (
    <div class="source-panes">
      <section class="pane index" aria-label="files and data objects" tabIndex={0}>
        <Files files={files} shown={file} total={total} />
        {index.documents.data?.is_there && <Objects profile={route.profile} />}
      </section>
      <section class="pane" aria-label={`source of ${fileName(file.name)}`}>
        <h2>{fileName(file.name)} {chosen?.file === file.name && <small>{spotName(chosen)}</small>}</h2>
        <Waiting loaded={source}>{(text) => <Text source={text} file={file} rows={rows} columns={columns} chosen={chosen} total={total} />}</Waiting>
      </section>
    </div>
  );
}
