import io.anserini.search.SimpleSearcher;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** The ids that Lucene finds for each line of standard input, best first, as the benchmark asks for them. */
public class LuceneLists {
    public static void main(String[] arguments) throws Exception {
        SimpleSearcher searcher = new SimpleSearcher(arguments[0]);
        BufferedReader queries = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream lists = new PrintStream(System.out, false, "UTF-8");
        for (String query = queries.readLine(); query != null; query = queries.readLine()) {
            StringBuilder line = new StringBuilder();
            for (SimpleSearcher.Result found : searcher.search(query, 50)) line.append(found.docid).append(' ');
            lists.println(line.toString().trim());
        }
        lists.flush();
    }
}
